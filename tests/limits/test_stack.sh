# SPDX-License-Identifier: Apache-2.0
# What recurses over a model runs to its limits, however small `ulimit -s` is.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

repeat() { awk -v text="$1" -v n="$2" 'BEGIN { while (n--) printf "%s", text }'; }
{
	printf 'QCNN 1;\nqubit q;\nparam float t;\nrx('
	repeat 't+' 1900
	printf 't) q;\nrx('
	repeat '-' 1900
	printf 't) q;\n'
	repeat 'for int i in [0:0] ' 1900
	printf 'x q;\nobserve z(q);\n'
} >deep.qcnn
{
	printf 'QCNN 1;\nqubit q;\nblock b0 a { x a; }\n'
	for k in 1 2 3 4 5 6; do
		printf 'block b%d a { ' $k
		repeat 'for int i in [0:0] ' 1900
		printf 'b%d a; }\n' $((k - 1))
	done
	printf 'b6 q;\nobserve z(q);\n'
} >deeper.qcnn

for size in 256 1024 8192; do
	(
		ulimit -s $size
		tap_exit 0 "ulimit -s $size: a deep model is checked" "$QCNN" check deep.qcnn
		tap_exit 0 "ulimit -s $size: and run" "$QCNN" run -q deep.qcnn
		tap_exit 65 "ulimit -s $size: a deeper one is refused" "$QCNN" check deeper.qcnn
		tap_has err "Q0303" "with its fault"
		exit $((tap_failures > 0))
	)
	tap_failures=$((tap_failures + $?)) tap_count=$((tap_count + 4))
done
tap_done
