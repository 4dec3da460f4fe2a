# SPDX-License-Identifier: Apache-2.0
# `make -j all GOAL`: goals that call make are not made at the same time, since both would write the same libraries.
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
tap_done
