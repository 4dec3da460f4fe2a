# SPDX-License-Identifier: Apache-2.0
# `make -j all GOAL`: goals that call make are not made at the same time, since both would write the same libraries; `make
# uninstall` leaves no folder of ours.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
command -v make >/dev/null || tap_skip_all "no make here"

# serial GOAL...: does make take the goals one after the other?  -n: nothing is made; -p: it prints its rules.
serial() { make -C "$top_builddir" -p -n MAKE=true "$@" 2>/dev/null | grep -q '^\.NOTPARALLEL:'; }

for goals in 'all config.h' 'all check-programs' check 'clean all' 'check-cuda' 'check-perf' bench 'all install'; do
	tap_ok "make $goals: one goal after the other" serial $goals
done
for goals in config.h all-am check-am install-am; do
	tap_ok "make $goals: in parallel" eval "! serial $goals"
done

# Examples and completions alone; -o: nothing is built.
made() { make -C "$top_builddir" -s -o qcnn "$@" prefix=/usr DESTDIR="$PWD/there" >made.out 2>&1; }
tap_ok "the examples are installed" made install-nobase_dist_pkgdataDATA
tap_ok "and what the shells complete" made install-bash_completionDATA install-zsh_completionDATA install-fish_completionDATA
for name in bash-completion/completions/qcnn zsh/site-functions/_qcnn fish/vendor_completions.d/qcnn.fish; do
	tap_ok "$name" grep -q learning_rate "there/usr/share/$name"
	rm -f "there/usr/share/$name"
done
tap_ok "below the prefix" test -s there/usr/share/qcnn/examples/iris/iris.csv
touch there/usr/share/qcnn/examples/iris/mine
tap_ok "make uninstall removes them" made uninstall-nobase_dist_pkgdataDATA uninstall-hook
tap_is "$(cd there/usr && find . ! -type d)" ./share/qcnn/examples/iris/mine "and leaves what others have put there"
rm there/usr/share/qcnn/examples/iris/mine
tap_ok "once more" made uninstall-hook
tap_is "$(cd there/usr && find . -name qcnn)" "" "removes the folders, too"
tap_done
