# SPDX-License-Identifier: Apache-2.0
# bootstrap on a system that lacks everything: it names what is missing and touches nothing.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

mkdir bin
for name in sh dirname id sed grep tr tail cat env; do
	ln -s "$(command -v $name)" bin/
done
printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query
printf '#!/bin/sh\necho "$*" >>"%s/asked"\nexit 1\n' "$PWD" >bin/apt-get
chmod +x bin/dpkg-query bin/apt-get

PATH=$PWD/bin tap_exit 0 "--help" sh "$top_srcdir/bootstrap" --help
tap_has out "--no-install" "--help names the options"
PATH=$PWD/bin tap_exit 1 "an unknown option" sh "$top_srcdir/bootstrap" --instal
tap_has out "unknown option --instal" "an unknown option is named"
PATH=$PWD/bin tap_exit 1 "--no-install fails where packages are missing" sh "$top_srcdir/bootstrap" --no-install
tap_has out "missing" "missing parts are announced"
for part in bison flex autoconf automake jansson; do
	tap_has out "$part" "$part is named"
done
tap_ok "nothing was installed" test ! -e asked
tap_is "$(cat err)" "" "all of it goes to stdout"
tap_done
