#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole-process times, start included: minimum of several runs, as a share of the time that a user may wait.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cluster=$top_srcdir/examples/cluster

now() { date +%s%N; }

# least RUNS COMMAND...: the shortest of RUNS runs in seconds.
least() {
	runs=$1 best=
	shift
	while [ "$runs" -gt 0 ]; do
		begin=$(now)
		"$@" >least.out 2>&1 || { echo failed; return; }
		took=$(($(now) - begin))
		[ -n "$best" ] && [ "$best" -le "$took" ] || best=$took
		runs=$((runs - 1))
	done
	awk -v t="$best" 'BEGIN { printf "%.4f", t / 1e9 }'
}

# within NAME SECONDS RUNS COMMAND...
within() {
	what=$1 limit=$2
	shift 2
	took=$(least "$@")
	share=$(awk -v t="$took" -v l="$limit" 'BEGIN { printf "%.2f", t / l }')
	tap_ok "$what: $took s, $share of $limit s" awk -v t="$took" -v l="$limit" 'BEGIN { exit !(t + 0 > 0 && t <= l) }'
}

within "qcnn --version" 0.010 20 "$QCNN" --version
within "cluster, 25 epochs, one start" 0.5 10 "$QCNN" train "$cluster/config.yaml" --set train.restarts=1 --set log.dir="$PWD/runs" -o w.bin -q
within "inference of 48 samples" 0.050 20 "$QCNN" infer w.bin

awk 'BEGIN { for (i = 0; i < 20; i++) printf "x%d%s", i, i < 19 ? "," : "\n"; for (i = 0; i < 20; i++) printf "%g%s", i / 10, i < 19 ? "," : "\n" }' >one.csv
twenty="$QCNN run $cluster/cluster.qcnn --const n=20 --data one.csv --emit jacobian -o jacobian.json"
within "20 qubits, one sample, outputs and all gradients" 1.0 5 $twenty

# Memory: two states of 2^20 complex64 and at most 64 MiB.
if [ -x /usr/bin/time ]; then
	kib=$(/usr/bin/time -f '%M' $twenty 2>&1 >/dev/null | tail -1)
	tap_ok "20 qubits: $kib KiB at most, two states and 64 MiB allowed" test "$kib" -le $((2 * 8192 + 65536))
else
	tap_skip "no /usr/bin/time to measure memory with"
fi

one=$(least 5 $twenty --threads 1)
two=$(least 5 $twenty --threads 2)
ratio=$(awk -v a="$one" -v b="$two" 'BEGIN { printf "%.2f", a / b }')
if [ "$(nproc)" -ge 2 ]; then
	tap_ok "20 qubits: two threads are $ratio times as fast as one (at least 1.4)" awk -v r="$ratio" 'BEGIN { exit !(r >= 1.4) }'
else
	tap_skip "one processor: threads cannot be compared"
fi

# A file of 100000 pictures, reduced to 8 numbers each, and one epoch; with at most 1.2 GB, streamed 200 MB.
sh "$top_srcdir/tests/cli/make_idx.sh" 100000 spots
cat >spots.qcnn <<'END'
qubit[8] q;
input float[8] x;
rx(each x) on q;
layer conv { param float[8] w; ry(each w) on q; cz on ring(q); }
layer last { param float[8] w; ry(each w) on q; cz on ring(q); }
observe z(q[0]);
END
cat >spots.yaml <<'END'
model: {file: spots.qcnn}
data: {train: spots-images-idx3-ubyte.gz, label_map: {0: -1, 1: 1}, transform: [{pca: {components: 8}}, min_max]}
train: {epochs: 1, batch_size: 32}
END
for streaming in off on; do
	spots="$QCNN train -q -o $streaming.bin --set data.streaming=$streaming spots.yaml"
	within "100000 x 784 bytes, pca to 8, one epoch of 8 qubits, streaming $streaming" 15 2 $spots
	if [ -x /usr/bin/time ]; then
		most=1200000
		[ $streaming = off ] || most=200000
		kib=$(/usr/bin/time -f '%M' $spots 2>&1 >/dev/null | tail -1)
		tap_ok "streaming $streaming: $kib KiB, $most allowed" test "$kib" -le $most
	fi
done
tap_same on.bin off.bin "the same weights"

tap_done
