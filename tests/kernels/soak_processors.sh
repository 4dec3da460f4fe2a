#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The portable kernels on other processors: the tests of kernels and units are built by a cross compiler, linked
# statically, and run under qemu: aarch64; s390x, whose numbers have their most significant byte first; and as they are:
# i686, with addresses of 32 bits.
# Headers are taken from this machine, libraries are not: tests that need one are left out.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

work=$PWD
processors='i686 aarch64 s390x'
emulator() {
	case $1 in
	i686) [ "$(uname -m)" != x86_64 ] || command -v env ;;
	*) command -v "qemu-$1-static" || command -v "qemu-$1" ;;
	esac
}

# The sources as they are shipped, since a configured folder cannot serve a second build.
mkdir include tests
(cd "$top_builddir" && rm -rf soak-src && make -s distdir distdir=soak-src top_distdir=soak-src && mv soak-src "$work/src") >src.log 2>&1 ||
	{ cat src.log; exit 1; }
for header in $(printf '#include <%s.h>\n' yaml zlib jansson sodium | ${CC:-cc} -M -xc - | tr ' \\' '\n\n' |
		grep -E '/(yaml|zlib|zconf|jansson|jansson_config|sodium)\.h$|/sodium/'); do
	case $header in
	*/sodium/*) mkdir -p include/sodium && cp "$header" include/sodium ;;
	*) cp "$header" include ;;
	esac
done

# Programs of the Makefile's list that ask no library for anything.
programs=
for program in $(sed -n 's,^check_PROGRAMS += \(tests/\(kernels\|base\|program\|data\|compiler\)/\),\1,p' "$top_srcdir/tests/local.mk"); do
	case $program in
	*test_pages) continue ;;     # qemu's /proc does not tell how memory is mapped
	esac
	nm -u "$top_builddir/$program" | grep -E -q ' (yaml_|json_|sodium_|crypto_|randombytes|inflate|crc32|compress|H5|nlopt_)' ||
		programs="$programs $program"
done
tap_ok "programs:$programs" [ "$(echo $programs | wc -w)" -ge 15 ]

# build PROCESSOR: where gcc has to take vectors apart, -O2 takes it half an hour and a GiB.
build() {
	case $1 in s390x) level=-O1 ;; *) level=-O2 ;; esac
	mkdir "$work/$1" && cd "$work/$1" || return 1
	with="-I$work/include"
	../src/configure -q --host="$1-linux-gnu" --without-hdf5 --without-nlopt --enable-cuda=no CC="$1-linux-gnu-gcc" CFLAGS="$level" LDFLAGS=-static \
		YAML_CFLAGS="$with" YAML_LIBS=" " ZLIB_CFLAGS="$with" ZLIB_LIBS=" " \
		JANSSON_CFLAGS="$with" JANSSON_LIBS=" " SODIUM_CFLAGS="$with" SODIUM_LIBS=" " &&
		make -s -j "$(nproc)" $programs
}

# run PROCESSOR PROGRAM: no point fails, as many as were planned.
run() {
	mkdir -p "$work/here"
	(cd "$work/here" && top_builddir="$work/$1" top_srcdir="$work/src" "$(emulator "$1")" "../$1/$2") >"$work/log" 2>&1
	status=$?
	points=$(grep -c '^ok' "$work/log")
	rm -rf "$work/here"
	grep -v '^ok' "$work/log" | tail -20
	[ $status -eq 0 ] && [ "$points" -gt 0 ] && grep -q "^1\.\.$points\$" "$work/log"
}

for processor in $processors; do
	if ! command -v "$processor-linux-gnu-gcc" >/dev/null; then
		tap_skip "no $processor-linux-gnu-gcc: ./bootstrap --lab installs it"
		continue
	fi
	if [ -z "$(emulator "$processor")" ]; then
		tap_skip "no qemu-$processor: ./bootstrap --lab installs qemu-user-static"
		continue
	fi
	(build "$processor") >build.log 2>&1
	status=$?
	tap_ok "$processor: built" sh -c "tail -40 build.log; exit $status" || continue
	for program in $programs; do
		tap_ok "$processor: $program" run "$processor" "$program"
	done
	rm -rf "$work/$processor"
done
tap_done
