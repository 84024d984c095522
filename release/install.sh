#!/bin/sh
# Installs Fencewright: the program, the site with the book and the playground, man pages and completions.
#
#   ./install.sh                      from the unpacked archive that it stands in
#   ./install.sh /usr/local           below another folder than ~/.local
#   FENCEWRIGHT_RELEASES=ADDRESS sh install.sh
#                                     fetches archive and checksum from ADDRESS
#
# There is no address of its own: whoever publishes the archive says where.
set -eu

# Everything is in functions that the last line calls: a script that was fetched in part does nothing.

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

target() {
    case "$(uname -s) $(uname -m)" in
        "Linux x86_64") echo x86_64-unknown-linux-gnu ;;
        "Linux aarch64") echo aarch64-unknown-linux-gnu ;;
        "Darwin arm64") echo aarch64-apple-darwin ;;
        "Darwin x86_64") echo x86_64-apple-darwin ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); \`cargo install --path .\` builds the program" ;;
    esac
}

checked() { # file with checksums
    if command -v sha256sum >/dev/null; then sha256sum -c "$1" >/dev/null; else shasum -a 256 -c "$1" >/dev/null; fi
}

fetch() { # folder
    archive="fencewright-$(target).tar.gz"
    from="${FENCEWRIGHT_RELEASES:-}"
    [ -n "$from" ] || fail "say where the archive is: FENCEWRIGHT_RELEASES=ADDRESS sh install.sh"
    for file in "$archive" "$archive.sha256"; do
        curl -fsSL -o "$1/$file" "$from/$file" || fail "$from/$file cannot be fetched"
    done
    (cd "$1" && checked "$archive.sha256") || fail "$archive is not what its checksum says"
    tar -xzf "$1/$archive" -C "$1"
}

install_from() { # unpacked archive, folder to install below
    mkdir -p "$2/bin" "$2/share/fencewright" "$2/share/man/man1" "$2/share/bash-completion/completions" \
        "$2/share/zsh/site-functions" "$2/share/fish/vendor_completions.d"
    # A program that runs cannot be written over, but replaced.
    cp "$1/fencewright" "$2/bin/fencewright.new"
    mv -f "$2/bin/fencewright.new" "$2/bin/fencewright"
    rm -rf "$2/share/fencewright/site"
    cp -R "$1/site" "$2/share/fencewright/site"
    cp "$1"/man/*.1 "$2/share/man/man1/"
    cp "$1/completions/fencewright.bash" "$2/share/bash-completion/completions/fencewright"
    cp "$1/completions/fencewright.zsh" "$2/share/zsh/site-functions/_fencewright"
    cp "$1/completions/fencewright.fish" "$2/share/fish/vendor_completions.d/fencewright.fish"
}

main() {
    prefix="${1:-$HOME/.local}"
    here="$(dirname "$0")"
    if [ -f "$here/fencewright" ] && [ -d "$here/site" ]; then
        install_from "$here" "$prefix"
    else
        temporary="$(mktemp -d)"
        trap 'rm -rf "$temporary"' EXIT
        fetch "$temporary"
        install_from "$temporary/fencewright" "$prefix"
    fi
    echo "$("$prefix/bin/fencewright" --version) is in $prefix/bin"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) echo "$prefix/bin is not in your PATH" ;;
    esac
    echo "fencewright playground opens the playground and the book"
}

main "$@"
