# SPDX-License-Identifier: Apache-2.0
# qcnn info: what it prints, which rule sets the threads, and limits that make sense.
. "$top_srcdir/tests/tap.sh"

tap_exit 0 "as text" "$QCNN" info
tap_is "$(cut -c1-13 out | sed 's/ *$//' | tr '\n' ',')" \
	"version,processor,processors,caches,kernels,memory,largest n,threads,build," "its lines"
tap_exit 0 "--json" "$QCNN" info --json
tap_is "$(grep -o '"[a-z_]*":' out | tr -d '":' | LC_ALL=C sort -u | tr '\n' ' ')" \
	"backends build bytes caches compiler double forward gradient isa isa_available largest_qubits level limits machine memory_available_bytes memory_bytes memory_limit_bytes numa_nodes omp_places processor processors schema shared_by single threads threads_rule version " \
	"its keys"
tap_has out '"limits": []' "nothing is measured unasked"
OMP_NUM_THREADS=3 tap_exit 0 "with OMP_NUM_THREADS" "$QCNN" info --json
tap_has out '"threads": 3, "threads_rule": "OMP_NUM_THREADS"' "it is the rule"
if command -v taskset >/dev/null; then
	(unset OMP_NUM_THREADS; taskset -c 0 "$QCNN" info --json >out)
	tap_has out '"threads": 1,' "one processor allows one thread"
else
	tap_skip "taskset is not installed"
fi
OMP_PLACES=cores tap_exit 0 "with OMP_PLACES" "$QCNN" info
tap_has out "OMP_PLACES is cores" "it is shown"

# A state one qubit larger than the largest must be refused.
"$QCNN" info --json >out
for precision in single double; do
	n=$(sed "s/.*\"$precision\": {\"forward\": \([0-9]*\), .*/\1/" out)
	tap_exit 78 "$((n + 2)) qubits in $precision precision" "$QCNN" bench --no-limits --qubits $((n + 2)) --precision $precision
done

tap_exit 0 "--measure" "$QCNN" info --measure --threads 1 --isa baseline --json
tap_is "$(sed 's/.*"limits": //; s/[0-9][0-9.]*/N/g' out)" \
	'[{"threads": N, "isa": "baseline", "stream_gb_s": N, "lN_gb_s_per_core": N, "fma_gflop_s_single": N, "fma_gflop_s_double": N}]}' \
	"the limits of one thread"
tap_exit 2 "an operand" "$QCNN" info --measure x
tap_done
