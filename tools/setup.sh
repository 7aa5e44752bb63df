#!/bin/sh
# Which packages does a goal need, and are they here? On Debian 12 what is missing is installed; elsewhere it is listed.
# usage: tools/setup.sh GOAL...     goals: build test peers lint fuzz bench load
set -eu

build="make git cmake ninja-build g++ ccache pkg-config python3 libboost1.81-dev nlohmann-json3-dev libfmt-dev libspdlog-dev
  libcli11-dev libpcre2-dev libutf8proc-dev libedit-dev libssl-dev libxxhash-dev
  libcurl4-openssl-dev libzmq3-dev cppzmq-dev
  libgtest-dev libgmock-dev"
test="xz-utils"
peers="ca-certificates python3-jinja2"
# Any node and npm will do: they only install the peers' own pinned node.
{ command -v node && command -v npm; } >/dev/null 2>&1 || peers="$peers nodejs npm"
lint="clang-format"
fuzz="clang libclang-rt-14-dev"
bench="libbenchmark-dev"
load="libfaketime"

wanted=""
for goal in "$@"; do
  case $goal in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $build $test" ;;
    peers) wanted="$wanted $build $peers" ;;
    lint) wanted="$wanted $build $lint" ;;
    fuzz) wanted="$wanted $build $fuzz" ;;
    bench) wanted="$wanted $build $bench" ;;
    load) wanted="$wanted $build $load" ;;
    *) echo "tools/setup.sh: unknown goal '$goal' (expected build, test, peers, lint, fuzz, bench or load)" >&2; exit 2 ;;
  esac
done

is_debian_12() {
  [ -r /etc/os-release ] || return 1
  # shellcheck disable=SC1091
  (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

if ! is_debian_12; then
  echo "not Debian 12: install what these Debian packages hold, if it isn't there yet:" $wanted >&2
  exit 0
fi

# dpkg-query exits 1 when it doesn't know a package: what it doesn't list as installed is missing.
# shellcheck disable=SC2086
installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package} ' $wanted 2>/dev/null || true)"
missing=""
for package in $wanted; do
  case $installed in
    *" installed:$package "*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root=sudo
  command -v sudo >/dev/null || { echo "missing packages, and neither root nor sudo to install them:$missing" >&2; exit 1; }
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root apt-get install -y -q --no-install-recommends $missing
