#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --dry-run foretells of an epoch is within 30 % of what the epoch in the middle of a run then takes.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cluster=$top_srcdir/examples/cluster/config.yaml

# foretold NAME EPOCHS OPTIONS...: a dry run, then the run.
foretold() {
	what=$1 epochs=$2
	shift 2
	set -- "$cluster" --set "train.epochs=$epochs" --set "log.dir=$PWD/dry" "$@"
	said=$("$QCNN" train -q --dry-run --json "$@" | sed 's/.*"epoch_seconds": \([^,}]*\).*/\1/')
	"$QCNN" train -q --fresh "$@"
	took=$(sed 's/.*"seconds": \([^,}]*\).*/\1/' dry/latest/metrics.jsonl | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
	rm -rf dry
	share=$(awk -v a="$said" -v b="$took" 'BEGIN { printf "%.2f", a / b }')
	tap_ok "$what: an epoch takes $took s, --dry-run said $share of that" awk -v s="$share" 'BEGIN { exit !(s > 0.7 && s < 1.3) }'
}

# size N: rounds of samples, and epochs, that are enough for a middle and soon over.
size() {
	case $1 in
	4 | 8) rounds=20 epochs=60 ;;
	12) rounds=10 epochs=10 ;;
	*) rounds=2 epochs=3 ;;
	esac
}

for n in 4 8 12 16 18; do
	size $n
	for batch in 1 16 64 100000; do
		foretold "$n qubits, batches of $batch" $epochs --const n=$n --set data.rounds=$rounds --set train.batch_size=$batch \
			--set train.restarts=1
	done
done
for n in 4 8 12; do
	size $n
	foretold "$n qubits, spsa" $epochs --const n=$n --set data.rounds=$rounds --set train.restarts=1 --set 'train.optimizer={spsa: {}}'
	foretold "$n qubits, 8 starts" $epochs --const n=$n --set data.rounds=$rounds --set train.restarts=8
	foretold "$n qubits, 1000 shots" 3 --const n=$n --set data.rounds=2 --set train.restarts=1 --set run.shots=1000 --set run.gradient=shift
done
foretold "16 qubits, 3 starts" 3 --const n=16 --set data.rounds=1 --set train.restarts=3
foretold "a validation after every fifth epoch" 50 --set train.validation_freq=5 --set train.restarts=1

tap_done
