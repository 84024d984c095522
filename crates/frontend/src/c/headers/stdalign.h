#ifndef FW_STDALIGN_H
#define FW_STDALIGN_H
#define alignas _Alignas
#define alignof _Alignof
#endif
