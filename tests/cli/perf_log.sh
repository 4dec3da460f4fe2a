#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What logging costs: trainings on 12 qubits, 64 samples a step, with nothing logged and with more and more up to
# all that can be, in turn. Nothing of it waits for the disk, so that processor time (user and system) on one thread
# is what it costs, whatever else the machine does; the least of each counts.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >config.yaml <<END
model: {file: $top_srcdir/examples/cluster/cluster.qcnn, const: {n: 12}}
data: {generate: cluster-excitation, rounds: 64}
train: {epochs: 80, batch_size: 64, metrics: [sign_accuracy, mae]}
run: {seed: 7, threads: 1}
END
nothing='--set log.tensorboard=false --set log.update_freq=0 --set log.histograms=0 --set log.report=false'
events='--set log.tensorboard=true --set log.update_freq=1 --set log.histograms=0 --set log.report=false'
histograms='--set log.tensorboard=true --set log.update_freq=1 --set log.histograms=1 --set log.report=false'
everything='--set log.tensorboard=true --set log.update_freq=1 --set log.histograms=1 --set log.report=true'

# Seconds that the processes which this shell has waited for have computed.
computed() { awk 'NR == 2 { gsub(/[ms]/, " "); print 60 * $1 + $2 + 60 * $3 + $4 }' times.out; }

# took NAME OPTIONS...: one training, its seconds of processor time as a line "NAME SECONDS" of the file took.
took() {
	name=$1
	shift
	times >times.out
	before=$(computed)
	"$QCNN" train -q --fresh --set log.dir="$PWD/runs" "$@" config.yaml >train.out 2>&1 || { tap_result 1 "train $*"; cat train.out; exit 1; }
	times >times.out
	echo "$name $(computed) $before" | awk '{ print $1, $2 - $3 }' >>took
	rm -rf runs
}
least() { awk -v name="$1" '$1 == name && (!n++ || $2 < best) { best = $2 } END { print best }' took; }

for round in 1 2 3 4 5 6 7 8 9; do
	took nothing $nothing
	took everything $everything
	took events $events
	took histograms $histograms
done
text=$(echo "$(least nothing) $(least events) $(least histograms) $(least everything)" |
	awk '{ printf "%.2f s; with events %+.1f %%, and histograms %+.1f %%, and the report %+.1f %% (at most 3)", $1, 100 * ($2 / $1 - 1), 100 * ($3 / $1 - 1), 100 * ($4 / $1 - 1) }')
tap_ok "960 steps of 64 samples on 12 qubits: $text" \
	awk -v a="$(least nothing)" -v b="$(least everything)" 'BEGIN { exit !(a > 0 && b <= 1.03 * a) }'
tap_done
