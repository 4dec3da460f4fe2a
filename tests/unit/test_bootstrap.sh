# SPDX-License-Identifier: Apache-2.0
# bootstrap on a system that lacks everything: it names what is missing and touches nothing. And what it says while it builds.
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

# With tools that are played: a make that goes on until its last line has been shown, and seconds that are short.
mkdir built fakes
cp "$top_srcdir/bootstrap" built/
printf '#!/bin/sh\nexec %s 0.05\n' "$(command -v sleep)" >fakes/sleep
printf '#!/bin/sh\necho installed\n' >fakes/dpkg-query
cat >fakes/make <<'END'
#!/bin/sh
echo '  CC       lang/ast.o'
until grep -q 'lang/ast.o' ../shown; do :; done
END
printf '#!/bin/sh\necho "with jansson"\n' >built/configure
cp bin/apt-get fakes/
for name in autoconf automake autoreconf bison flex gcc pkg-config mandoc; do
	ln -s "$(command -v true)" fakes/$name
done
chmod +x fakes/* built/configure
bootstrap() { PATH=$PWD/fakes:$PATH timeout 60 sh built/bootstrap --no-install >shown; }
tap_exit 0 "a build" bootstrap
tap_has shown " s:   CC       lang/ast.o" "shows what is compiled"
tap_is "$(grep -c '^bootstrap:   done after [0-9]* s$' shown)" 2 "and how long each step took"
tap_has shown "  with jansson" "the summary of configure"
tap_is "$(tail -n 1 shown); $(ls built | tr '\n' ' ')" "bootstrap: ready: ./qcnn; bootstrap configure " "and its end"
# A pipe behind it does not stay open until the next line of progress would come.
printf '#!/bin/sh\nexec %s 600\n' "$(command -v sleep)" >fakes/sleep
printf '#!/bin/sh\n' >fakes/make
tap_exit 0 "a build whose output goes through a pipe" timeout 120 sh -c 'PATH=$PWD/fakes:$PATH sh built/bootstrap --no-install | cat >shown'
tap_ok "ends when it is done" grep -q 'ready: ./qcnn' shown
printf '#!/bin/sh\nexit 2\n' >fakes/make
tap_exit 1 "a build that fails" bootstrap
tap_has shown "failed: make -s -j" "names the command"
tap_done
