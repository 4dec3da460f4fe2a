#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same seed gives the same weights.bin, byte for byte, and the same metrics: for 1, 2, 3 and 4
# threads, for two runs, for every example, for large batches and for states that all threads share.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

examples=$top_srcdir/examples

# metrics without timings, of the newest run
metrics() { sed 's/, *"seconds": *[^,}]*//; s/, *"samples_per_second": *[^,}]*//' runs/latest/metrics.jsonl; }

# same NAME CONFIG [options]: 1 thread twice, then 2, 3 and 4.
same() {
	what=$1 config=$2
	shift 2
	for threads in 1 1 2 3 4; do
		"$QCNN" train "$config" --set log.dir="$PWD/runs" --set run.threads=$threads -o got.bin -q "$@" 2>err ||
			{ tap_result 1 "$what trains with $threads threads"; sed 's/^/# /' err; return; }
		metrics >got.metrics
		if [ -f want.bin ]; then
			tap_ok "$what: the same weights with $threads threads" cmp want.bin got.bin
			tap_same got.metrics want.metrics "$what: the same metrics with $threads threads"
		else
			mv got.bin want.bin
			mv got.metrics want.metrics
		fi
	done
	rm -f want.bin want.metrics
}

for dir in "$examples"/*/; do
	name=$(basename "$dir")
	epochs=3
	case $name in
	batch | kubernetes) continue ;;      # no models
	pixels) epochs=1 ;;      # a second of a processor each
	esac
	same "$name" "$dir/config.yaml" --set train.epochs=$epochs --set train.restarts=1
done

# 1,000 samples, 250 a batch.
same "batches of 250" "$examples/cluster/config.yaml" --set data.rounds=125 --set data.split=1.0 \
	--set train.batch_size=250 --set train.epochs=1 --set train.restarts=1

# 18 qubits: all threads share one state.
shared="--set model.const.n=18 --set data.rounds=1 --set train.batch_size=2 --set train.epochs=1 --set train.max_steps=1 --set train.restarts=1"
same "18 qubits" "$examples/cluster/config.yaml" $shared
same "18 qubits and a head" "$examples/cluster-hybrid/config.yaml" $shared

tap_done
