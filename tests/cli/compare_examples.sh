#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The examples beside what others published, over seeds: the numbers of examples/README.md, printed as its rows are.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/examples.sh"

# row FLOOR NAME LAST KEY [options]: mean and least over the seeds; the mean is at least FLOOR.
row() {
	floor=$1
	shift
	words="$1${5:+ $5}${7:+ $7} seeds 1 to $2"
	seeds "$@" >values
	tap_is "$(wc -l <values | tr -d ' ')" "$2" "$words ran"
	tap_note "| $words | $3 | mean $(mean values) | least $(least values) |"
	tap_ok "$words: mean $3 $(mean values) is at least $floor" holds "$(mean values)" '>=' "$floor"
}

row 0.99 bars 10 sign_accuracy
for size in '2 0.6' '5 0.65' '10 0.8' '20 0.93' '40 0.95' '80 0.97'; do
	row "${size#* }" digits-few 10 accuracy --set "data.split={train: ${size% *}, test: 100}"
done
for ansatz in 0 1 2 3 4 5 6 7 8; do
	row 0.94 hur 5 accuracy --const ansatz=$ansatz
done
row 0.98 hur 5 accuracy --const ansatz=8 --const chain=1
row 0.6 hur 5 accuracy --const ansatz=3 --const chain=1
# boundary XX: the field where the answers along it change their sign, mean over the seeds in cong.*.bin.
boundary() {
	for file in cong.*.bin; do
		"$QCNN" infer --set data.rounds=41 --set data.generate.cluster-ising.high=2.5 --set data.generate.cluster-ising.xx="$1" $file |
			crossing 0.0625
	done >values
	mean values
}
for seed in 1 2 3 4 5 6 7 8 9 10; do
	train cong --set run.seed=$seed && mv weights.bin cong.$seed.bin
	"$QCNN" infer --set data.rounds=200 --set data.generate.cluster-ising.even=false --json cong.$seed.bin >infer.json
	json infer.json sign_accuracy
done >accuracy
tap_note "| cong seeds 1 to 10, 200 states at random | sign_accuracy | mean $(mean accuracy) | least $(least accuracy) |"
tap_ok "cong: mean sign_accuracy $(mean accuracy) is at least 0.98" holds "$(mean accuracy)" '>=' 0.98
for exact in '-0.6 1.79' '-0.3 1.39' '0 1.00' '0.3 0.64' '0.6 0.32'; do
	at=$(boundary "${exact% *}")
	tap_note "| cong seeds 1 to 10 | boundary at xx ${exact% *} | mean $at | exact diagonalisation ${exact#* } |"
	tap_ok "cong: the boundary $at at xx ${exact% *} is near ${exact#* }" \
		holds "$(awk -v a="$at" -v b="${exact#* }" 'BEGIN { print (a > b ? a - b : b - a) }')" '<' 0.25
done
row 0.95 iris 20 accuracy
row 0.78 iris 20 accuracy --set model.file=tutorial.qcnn
row 0.92 quanvolution 10 accuracy
row 0.94 quanvolution 10 accuracy --const depth=0
row 0.96 digits 10 sign_accuracy
row 0.93 pixels 10 sign_accuracy
row 0.95 cluster-hybrid 10 sign_accuracy
row 0.95 cluster-three-filters 10 sign_accuracy
row 0.95 cluster-legacy 10 sign_accuracy

tap_done
