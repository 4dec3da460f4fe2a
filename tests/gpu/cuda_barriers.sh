# SPDX-License-Identifier: Apache-2.0
# Each barrier of each kernel is needed, and a test notices where it is missing: the emulated GPU leaves out one at a time.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
states=$top_builddir/tests/gpu/states-checked
[ -x "$states" ] || tap_skip_all "no emulated GPU in this build"

tap_ok "with all barriers nothing is found" "$states" few
echo '# | barrier | in | found |'
echo '# |---|---|---|'
cd "$top_srcdir/runtime/exec/statevector/cuda" && grep -n -E '__sync(threads|warp)\(' ./*.cu ./*.cuh >"$OLDPWD/barriers"
cd "$OLDPWD" || exit 1
while IFS=: read -r file line text; do
	file=${file#./}
	kernel=$(sed -n "1,${line}s/^[^/]*[ \t]\([a-z_]*\)(const cuda_[a-z_]* __grid_constant__.*/\1/p" "$top_srcdir/runtime/exec/statevector/cuda/$file" | tail -n 1)
	kernel=${kernel:-${file%.cuh}} # of several kernels
	for program in 'states-checked few' 'optimisations-checked cuda few' states-checked; do # until one shows it
		# shellcheck disable=SC2086
		EMU_WITHOUT=$file:$line "$top_builddir/tests/gpu/"$program >out 2>err
		status=$?
		found=$(sed -n 's/^emu: \(.*\): pc .*/\1/p' err | sort -u | tr '\n' ';' | sed 's/;$//; s/;/; /g')
		[ -z "$found" ] || break
	done
	echo "# | $(echo "$text" | grep -o '__sync[a-z]*') in line $line | $kernel | ${found:-nothing} |"
	[ $status -eq 97 ] && [ -n "$found" ]
	tap_result $? "$kernel: without the barrier in line $line of $file: $found" || sed 's/^/# /' err
done <barriers
tap_ok "there are barriers" test -s barriers
tap_done
