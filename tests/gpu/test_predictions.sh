# SPDX-License-Identifier: Apache-2.0
# What plans for a GPU say is what the emulated GPU counts.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu
[ -x "$emu/work-checked" ] || tap_skip_all "no emulated GPU in this build"

# Launches, copies, waits, operations and bytes.
"$emu/work-checked" >points 2>findings
status=$?
{ grep '^not ok' points; cat findings; } | sed 's/^/# /'
[ $status -eq 0 ] && [ ! -s findings ]
tap_result $? "counted as planned: $(grep -c '^ok' points) points"

tap_done
