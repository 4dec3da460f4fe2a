#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every example shows the result that its file `expect` states; the digits over ten seeds.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

. "$top_srcdir/tests/cli/examples.sh"

# fact KEY: a value of the run that just ended.
fact() {
	case $1 in
	weights) "$QCNN" weights show --json weights.bin | tr '{' '\n' | sed -n 's/.*"shape": *\[\([0-9, ]*\)\].*/\1/p' |
		awk -F, '{ n = 1; for (i = 1; i <= NF; i++) if ($i != "") n *= $i; sum += n } END { print sum }' ;;
	train_*) json best.json "${1#train_}" ;;
	infer_*) json infer.json "${1#infer_}" ;;
	esac
}

# check_expect NAME: each line of its `expect`.
check_expect() {
	while read -r key comparison number; do
		case $key in '' | '#'*) continue ;; esac
		[ "$comparison" = = ] && comparison===
		value=$(fact "$key")
		tap_ok "$1: $key is $value, $comparison $number" holds "$value" "$comparison" "$number"
	done <"$examples/$1/expect"
}

for dir in "$examples"/*/; do
	name=$(basename "$dir")
	case $name in batch | kubernetes) continue ;; esac      # no models
	for file in README.md config.yaml expect; do
		tap_ok "$name has $file" test -f "$dir/$file"
	done
	tap_ok "$name is named in the table of examples" grep -q "^| \[$name\]($name/README.md)" "$examples/README.md"
	tap_ok "$name trains" train "$name"
	part=
	grep -q '^  split:' "$dir/config.yaml" || part=--split=train   # without a split all samples are for training
	tap_ok "$name infers" infer "$name" $part
	check_expect "$name"
	cp weights.bin "$name.bin"
	# what training said of the validation samples, inference says to the last digit
	# (unless both draw at random)
	if [ -n "$(json best.json val_loss)" ] && ! grep -q '^  trajectories:' "$dir/config.yaml"; then
		infer "$name" --split validation
		tap_is "$(json infer.json loss)" "$(json best.json val_loss)" "$name: infer prints training's validation loss, to the last digit"
	fi
done

# Before any step the tutorial's start point has the tutorial's loss.
tap_ok "bars: one epoch" train bars --set train.epochs=1 --set run.precision=double
loss=$(json best.json loss)
tap_ok "bars: the loss before any step is $loss, 0.5144758358 as elsewhere" \
	holds "$(awk -v a="$loss" 'BEGIN { d = a - 0.5144758358208722; print d < 0 ? -d : d }')" '<' 1e-12

# By the tutorial's optimiser the tutorial's result, where there is NLopt.
if train bars --set train.optimizer=cobyla --set train.epochs=200 2>err; then
	tap_ok "bars: COBYLA's training accuracy is $(json best.json sign_accuracy), at least 0.9" holds "$(json best.json sign_accuracy)" '>=' 0.9
	infer bars
	tap_ok "bars: its test accuracy is $(json infer.json sign_accuracy), at least 0.85" holds "$(json infer.json sign_accuracy)" '>=' 0.85
else
	tap_has err NLopt "bars: without NLopt there is no COBYLA, which is said"
fi

# The models are those of the other programs: outputs with given weights, by other simulators.
while read -r model const weights input outputs; do
	case $model in '#'*) continue ;; esac
	echo "$weights" >weights.json
	echo "$input" >input.csv
	set --
	for one in $(echo "$const" | tr , ' '); do set -- "$@" --const "$one"; done
	tap_ok "$model with $const runs" "$QCNN" run --precision double "$@" --weights weights.json --data input.csv \
		--format csv -o outputs.csv "$examples/$model"
	sed '1d; s/^0,//' outputs.csv >numbers   # without names and the sample's number
	error=$(echo "$outputs" | paste -d, numbers - | awk -F, '{
		for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < 0) d = -d; if (!(d <= most)) most = d }
		print NF ? most + 0 : "nothing" }')
	tap_ok "$model with $const is off by $error" holds "$error" '<' 1e-12
done <"$top_srcdir/tests/cli/examples.txt"

# All nine circuits of the paper are there, with its numbers of weights.
for ansatz in 0 1 2 3 4 5 6 7 8; do
	"$QCNN" check --const ansatz=$ansatz "$examples/hur/hur.qcnn" | sed -n 's/^weights *//p'
done >weights
tap_is "$(tr '\n' ' ' <weights)" "12 36 36 12 24 24 18 24 51 " "hur: weights of the nine circuits"

# The phase boundary where it is known, and that it moves the right way where the model was not trained.
boundary() {
	"$QCNN" infer --set data.rounds=41 --set data.generate.cluster-ising.xx="$1" cong.bin |
		crossing 0.05
}
tap_ok "cong: the boundary $(boundary 0) is above 0.9" holds "$(boundary 0)" '>' 0.9
tap_ok "cong: and below 1.1" holds "$(boundary 0)" '<' 1.1
tap_ok "cong: with products of X X it is $(boundary 0.3), below 0.75" holds "$(boundary 0.3)" '<' 0.75

# Many seeds are about numbers, not about memory.
[ -z "${QCNN_SANITIZED:-}" ] || tap_done

# Handwritten digits: test accuracy over seeds 1 to 10.
seeds digits 10 sign_accuracy | sort -g >accuracy
tap_is "$(wc -l <accuracy | tr -d ' ')" 10 "digits: ten seeds ran"
tap_ok "digits: worst test accuracy $(least accuracy) >= 0.95" holds "$(least accuracy)" '>=' 0.95
median=$(awk '{ a[NR] = $1 } END { print (a[5] + a[6]) / 2 }' accuracy)
tap_ok "digits: median test accuracy $median >= 0.97" holds "$median" '>=' 0.97

# The cluster example as shipped, ten seeds: a good start is found.
for seed in 1 2 3 4 5 6 7 8 9 10; do
	train cluster --set run.seed=$seed && json best.json loss
done >losses
good=$(awk '$1 < 0.35 { n++ } END { print n + 0 }' losses)
tap_ok "cluster: $good of 10 seeds reach a loss below 0.35 (at least 9)" test "$good" -ge 9

tap_done
