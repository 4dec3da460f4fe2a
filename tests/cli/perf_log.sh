#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What logging costs: trainings on 12 qubits, 64 samples a step, with all that can be logged and with
# nothing, in turn; the shortest of each.
. "$top_srcdir/tests/tap.sh"

cat >config.yaml <<END
model: {file: $top_srcdir/examples/cluster/cluster.qcnn, const: {n: 12}}
data: {generate: cluster-excitation, rounds: 64}
train: {epochs: 80, batch_size: 64, metrics: [sign_accuracy, mae]}
run: {seed: 7}
END
nothing='--set log.tensorboard=false --set log.update_freq=0 --set log.histograms=0 --set log.report=false'
everything='--set log.tensorboard=true --set log.update_freq=1 --set log.histograms=1 --set log.report=true'

# took OPTIONS...: seconds of the process times 1e9.
took() {
	begin=$(date +%s%N)
	"$QCNN" train -q --fresh --set log.dir="$PWD/runs" "$@" config.yaml >train.out 2>&1 || { tap_result 1 "train $*"; cat train.out; exit 1; }
	echo $(($(date +%s%N) - begin))
}

least_without= least_with=
for round in 1 2 3 4 5 6 7 8; do
	without=$(took $nothing)
	with=$(took $everything)
	[ -n "$least_without" ] && [ "$least_without" -le "$without" ] || least_without=$without
	[ -n "$least_with" ] && [ "$least_with" -le "$with" ] || least_with=$with
	rm -rf runs
done
text=$(awk -v a="$least_without" -v b="$least_with" 'BEGIN { printf "%.3f s with nothing, %.3f s with everything logged, %.2f %% more (at most 3)", a / 1e9, b / 1e9, 100 * (b / a - 1) }')
tap_ok "960 steps of 64 samples on 12 qubits: $text" awk -v a="$least_without" -v b="$least_with" 'BEGIN { exit !(a > 0 && b <= 1.03 * a) }'
tap_done
