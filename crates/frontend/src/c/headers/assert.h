#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
void assert(int condition);
#endif
#undef static_assert
#define static_assert _Static_assert
