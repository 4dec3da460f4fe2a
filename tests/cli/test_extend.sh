# SPDX-License-Identifier: Apache-2.0
# A training that has finished is extended by more epochs: the bits, the lines and the events of one that had them from the beginning.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner

train() { "$QCNN" train "$@" "${config:-config.yaml}"; }
no_places() { sed 's/^  dir: .*//; s/^  checkpoint_steps: .*//; s/ *# .*//' "$1/latest/config.yaml"; }
# Of several restarts, the further epochs of all follow those of before.
no_workers() { no_times "$1/latest/metrics.jsonl" | sed 's/, "workers".*//' | sort -s -t, -k1,1; }
no_csv_times() { sed 's/,[^,]*,[^,]*$//' "$1/latest/history.csv" | sort -s -t, -k1,1; }

# same_runs NAME A B: two folders of runs have the same results and records.
same_runs() {
	tap_same "$2/latest/weights.bin" "$3/latest/weights.bin" "$1: the same weights"
	tap_is "$(no_workers "$2")" "$(no_workers "$3")" "$1: the same metrics"
	tap_is "$(no_csv_times "$2")" "$(no_csv_times "$3")" "$1: the same history"
	tap_is "$(other_files "$(tap_run "$2")"/)" "$(other_files "$(tap_run "$3")"/)" "$1: the same of all other files"
	for tag in batch_loss epoch_loss /histogram epoch_gradient_norm session_start_info session_end_info 'rx(each s)'; do
		tap_is "$(tags "$(tap_run "$2")"/ "$tag")" "$(tags "$(tap_run "$3")"/ "$tag")" "$1: $tag, none twice, none lost"
	done
	tap_is "$(no_places "$2")" "$(no_places "$3")" "$1: the same configuration"
	tap_is "$(grep -c Gradient "$2/latest/report.html")" "$(grep -c Gradient "$3/latest/report.html")" "$1: the report has all its figures"
}

# extended NAME OPTIONS...: 12 epochs from the beginning, and 5, extended to 8 and to 12.
extended() {
	name=$1
	shift
	rm -rf long short
	train -q "$@" --set=train.epochs=12 --set=log.dir=long
	train -q "$@" --set=train.epochs=5 --set=log.dir=short
	train -q "$@" --set=train.epochs=8 --set=log.dir=short --resume=latest
	tap_exit 0 "$name: is extended twice" "$QCNN" train "$@" --set=train.epochs=12 --set=log.dir=short --resume=latest "${config:-config.yaml}"
	tap_is "$(ls -d short/cluster-* | wc -l | tr -d ' ')" 1 "$name: all in one folder"
	same_runs "$name" short long
}
extended adam --set=log.histograms=2
tap_has err "extending short/cluster-" "and says so"
tap_has err "from 8 to 12 epochs" "from where to where"
tap_is "$(grep -c 'epoch *[0-9]*/' err)" 4 "only the further epochs are trained"
tap_is "$("$QCNN" runs --dir=short | grep -c finished)" 1 "qcnn runs lists one run"
extended momentum '--set=train.optimizer={sgd: {momentum: 0.9, nesterov: true}}' --set=train.batch_size=4
extended average '--set=train.optimizer={adam: {learning_rate: 0.05, use_ema: true, amsgrad: true}}' --set=train.initial_epoch=2
extended spsa '--set=train.optimizer={spsa: {}}' --set=run.shots=100
extended exponential '--set=train.schedule={exponential: {decay_steps: 20, decay_rate: 0.5}}' --set=train.validation_freq=2
extended piecewise '--set=train.schedule={piecewise: {boundaries: [30], values: [0.05, 0.01]}}'
extended cosine '--set=train.schedule={cosine: {decay_steps: 100}}' --set=run.threads=2
extended callbacks '--set=train.callbacks.early_stopping={patience: 10, restore_best_weights: true}' \
	'--set=train.callbacks.reduce_lr_on_plateau={monitor: loss, patience: 1, min_delta: 0.1}' \
	'--set=train.callbacks.checkpoint={keep: 3}' '--set=train.callbacks.csv={}'
tap_has short/latest/run.json '"epochs": ' "with an epoch whose weights are kept"
extended workers --hosts=local:2
extended restarts --set=train.restarts=3 '--set=train.callbacks.csv={}'
extended 'concurrent restarts' --set=train.restarts=5 --set=run.threads=2 --set=log.histograms=1
# Restarts that a callback has ended stay as they are: of four, two before epoch 5, three before epoch 8.
for threads in 1 2; do
	for more in '' ', restore_best_weights: true'; do
		extended "some have ended early, $threads threads$more" --set=train.restarts=4 --set=run.threads=$threads --set=log.histograms=1 \
			"--set=train.callbacks.early_stopping={monitor: loss, patience: 1, min_delta: 0.03$more}" \
			'--set=train.optimizer={adam: {learning_rate: 0.05, use_ema: true}}'
		tap_has err "not trained further: restart 1 (after epoch 6), restart 2 (after epoch 5), restart 4 (after epoch 4)" "which ones"
		tap_is "$(grep -o '"stopped_epochs": [^]]*' short/latest/run.json)" "$(grep -o '"stopped_epochs": [^]]*' long/latest/run.json)" "the record has all"
	done
done

# updates NAME FROM BY TO OPTIONS...: the same, where max_steps ends it, in the middle of an epoch or not.
updates() {
	name="$1: $2, $3, $4 updates"
	from=$2
	by=$3
	to=$4
	shift 4
	rm -rf long short
	train -q "$@" --set=train.epochs=30 --set=train.max_steps="$to" --set=log.dir=long
	train -q "$@" --set=train.epochs=30 --set=train.max_steps="$from" --set=log.dir=short
	train -q "$@" --set=train.epochs=30 --set=train.max_steps="$by" --set=log.dir=short --resume=latest
	tap_exit 0 "$name" "$QCNN" train --no-progress "$@" --set=train.epochs=30 --set=train.max_steps="$to" --set=log.dir=short --resume=latest config.yaml
	tap_has err "from $by updates to 30 epochs" "$name: from where"
	tap_is "$(ls -d short/cluster-* | wc -l | tr -d ' ')" 1 "$name: all in one folder"
	same_runs "$name" short long
}
updates "whole epochs" 8 20 48 '--set=train.callbacks.csv={}'
updates "parts of epochs" 7 29 46 --set=log.histograms=1 '--set=train.callbacks={early_stopping: {patience: 9, restore_best_weights: true}, csv: {}}'
updates "to the end" 18 21 null --set=train.batch_size=16 '--set=train.schedule={cosine: {decay_steps: 100}}'
updates restarts 4 12 20 --set=train.restarts=3 --set=run.threads=2
updates "workers" 6 7 8 --hosts=local:2
rm -rf short long
set -- --set=train.max_steps=18
train -q "$@" --set=train.epochs=3 --set=log.dir=short
train -q "$@" --set=train.epochs=9 --set=log.dir=short --resume=latest
train -q "$@" --set=train.epochs=9 --set=log.dir=long
same_runs "more epochs, up to max_steps" short long

config=table.yaml
extended streaming --set=data.streaming=on --set=log.name=cluster
sed 's/^head.*//; s/observe z(q)/observe z(q[0])*z(q[1])/' two.qcnn >angles.qcnn
extended rotosolve '--set=train.optimizer={rotosolve: {}}' --set=model.file=angles.qcnn --set=log.name=cluster
config=

# With the best weights in weights.bin, the last ones go on.
best="--set=train.callbacks.early_stopping={patience: 10, restore_best_weights: true, mode: max}"
rm -rf short
train -q "$best" --set=train.epochs=4 --set=log.dir=short
tap_exit 0 "the best epoch is not the last" "$QCNN" train "$best" --set=train.epochs=6 --set=log.dir=short --resume=latest config.yaml
tap_has err "goes on from the weights of epoch 4, not from those of its best epoch 1," "the last one goes on"

# What the number of epochs decides from the first one on: refused, and nothing of the run is changed.
files() { (cd "$1" && find . -type f -exec cksum {} + | sort -k 3); }
refused() {
	status=$1
	name=$2
	why=$3
	shift 3
	rm -rf short
	train -q "$@" --set=train.epochs=5 --set=log.dir=short 2>/dev/null
	before=$(files "$(tap_run short)")
	tap_exit "$status" "$name" "$QCNN" train -q "$@" --set=train.epochs=9 --set=log.dir=short --resume=latest $other config.yaml
	tap_has err "$why" "$name: why"
	tap_has err "train.init.from=" "$name: what to do instead"
	tap_is "$(files "$(tap_run short)")" "$before" "$name: the run is as it was"
}
other=
refused 2 "a schedule as long as the training" "without train.schedule.cosine.decay_steps" '--set=train.schedule={cosine: {}}'
refused 2 "many restarts" "has no state.bin" --set=train.restarts=257 --set=log.tensorboard=false
refused 2 "all have stopped early" "its callback early_stopping has ended it" --set=train.restarts=2 \
	'--set=train.callbacks.early_stopping={monitor: loss, min_delta: 10}'
refused 2 "stopped early" "its callback early_stopping has ended it" '--set=train.callbacks.early_stopping={monitor: loss, min_delta: 10}'
refused 2 "max_steps" '`--set train.max_steps=14` gives it more updates' --set=train.max_steps=7
refused 2 "max_steps of restarts within an epoch" "ended its restarts within an epoch" --set=train.max_steps=7 --set=train.restarts=2
other="--set=train.epochs=5 --set=train.max_steps=200"
refused 2 "more updates than its epochs have" '`--set train.epochs=10` gives it more' --set=train.max_steps=100
other="--set=train.epochs=5"
refused 2 "no more updates" "has finished its 8 updates (train.max_steps); with more of them, as \`--set train.max_steps=16\`, it goes on" \
	--set=train.max_steps=8
other="--set=train.max_steps=9"
refused 78 "fewer updates than it was to have" "train.max_steps is 9 here and 100 there" --set=train.max_steps=100
other=--set=train.optimizer.adam.learning_rate=0.5
refused 78 "another configuration" "train.optimizer.adam.learning_rate is 0.5 here"
other=--set=train.epochs=5
refused 2 "no more epochs" "has finished its 5 epochs; with more of them, as \`--set train.epochs=10\`, it goes on"
other=--set=train.epochs=4
refused 2 "fewer epochs" "has finished its 5 epochs"
other=
rm "$(tap_run short)/state.bin"
tap_exit 2 "a run without a state" "$QCNN" train -q --set=train.epochs=9 --set=log.dir=short --resume=latest config.yaml
tap_has err "has no state.bin" "is said"
tap_ok "and has no lock" test ! -e "$(tap_run short)/checkpoint"

# Stopped while it is extended: the finished weights stay, and the same command goes on, by itself too. A program keeps each restart
# at its ninth epoch until a file exists.
printf '#!/bin/sh\nwhile [ $QCNN_EPOCH -ge 9 ] && [ ! -e open$QCNN_START ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n' >gate
chmod +x gate
gate="--set=train.callbacks.command={run: [./gate], on: epoch}"
# killed_while EPOCHS OPTIONS...: killed when EPOCHS are recorded.
killed_while() {
	epochs=$1
	shift
	: >err
	"$QCNN" train --no-progress "$gate" --set=train.epochs=40 --set=log.dir=short "$@" config.yaml 2>err &
	pid=$!
	tap_until 'grep -q "ing short/cluster" err && [ "$(grep -c . short/latest/metrics.jsonl)" = $epochs ]'
	"$QCNN" runs --dir=short >list 2>&1
	kill -s KILL $pid
	wait $pid 2>/dev/null
	tap_has list running "it is listed as running"
}
for several in 1 3; do
	name="killed while extended, $several"
	rm -rf long short open?
	for k in 1 2 3; do : >open$k; done
	set -- --set=train.restarts=$several
	train -q "$@" "$gate" --set=train.epochs=40 --set=log.dir=long
	train -q "$@" "$gate" --set=train.epochs=5 --set=log.dir=short
	cp short/latest/weights.bin kept.bin
	rm open?
	killed_while $((5 * several + 4)) "$@" --resume=latest
	tap_has err "from 5 to 40 epochs" "$name: it is extended"
	tap_same short/latest/weights.bin kept.bin "$name: without a checkpoint the weights stay"
	tap_exit 0 "$name: they can be used" "$QCNN" infer -q "$(tap_run short)"
	killed_while $((5 * several + 4)) "$@"
	tap_has err "from 5 to 40 epochs" "$name: without a checkpoint, it is extended again"
	killed_while $((5 * several + 4)) "$@" --set=log.checkpoint_steps=1
	: >open1
	[ "$several" = 1 ] || killed_while $((5 * several + 35 + 4)) "$@" --set=log.checkpoint_steps=1
	: >open2
	[ "$several" = 1 ] || killed_while $((5 * several + 70 + 4)) "$@" --set=log.checkpoint_steps=1
	: >open3
	tap_exit 0 "$name: the same command goes on" "$QCNN" train --no-progress "$@" "$gate" --set=train.epochs=40 --set=log.dir=short config.yaml
	tap_has err "resuming short/cluster-" "$name: from its checkpoint"
	same_runs "$name" short long
	tap_is "$(ls -d short/cluster-* | wc -l | tr -d ' ')" 1 "$name: all in one folder"
	tap_exit 0 "$name: and is extended again" "$QCNN" train -q "$@" "$gate" --set=train.epochs=41 --set=log.dir=short --resume=latest config.yaml
done

# Restarts side by side, of which some are in a checkpoint that have not begun again.
name="side by side"
set -- --set=train.restarts=5 --set=run.threads=2 --set=log.update_freq=0 --set=log.checkpoint_steps=20
rm -rf long short
train -q "$@" --set=train.epochs=300 --set=log.dir=long
train -q "$@" --set=train.epochs=5 --set=log.dir=short
seen=0
for turn in 1 2 3; do
	old=$(cksum short/cluster-*/checkpoint/?.bin 2>/dev/null)
	named=--resume=latest
	[ "$turn" = 1 ] || named=--resume=auto
	"$QCNN" train -q "$@" $named --set=train.epochs=300 --set=log.dir=short config.yaml 2>err &
	pid=$!
	tap_until '[ "$(cksum short/cluster-*/checkpoint/?.bin 2>/dev/null)" != "$old" ] || [ -z "$(tap_left $pid)" ]'
	kill -s KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ $? -ne 137 ] || seen=$((seen + 1))
done
tap_ok "$name: killed $seen times" test $seen -gt 0
tap_exit 0 "$name: the same command goes on, on one thread" "$QCNN" train --no-progress "$@" --set=train.epochs=300 --set=log.dir=short --set=run.threads=1 config.yaml
tap_has err "resuming short/cluster-" "$name: from its checkpoint"
tap_is "$(grep -c 'resuming from the other' err)" 0 "$name: which is whole"
sed -i 's/threads: 1 /threads: 2 /' "$(tap_run short)/config.yaml"
same_runs "$name" short long
tap_is "$(ls -d short/cluster-* | wc -l | tr -d ' ')" 1 "$name: all in one folder"
train -q "$@" --set=train.epochs=310 --set=log.dir=long --resume=latest
train -q "$@" --set=train.epochs=310 --set=log.dir=short --resume=latest
same_runs "$name, extended again" short long

# A signal while it is extended leaves the weights; and one that has not finished gets more epochs, too.
printf '#!/bin/sh\n[ "$QCNN_EPOCH" != 7 ] || [ -e open ] || kill -s USR1 $PPID\n' >stop
chmod +x stop
stop="--set=train.callbacks.command={run: [./stop], on: epoch}"
rm -rf short long open?
train -q "$stop" --set=train.epochs=5 --set=log.dir=short
tap_exit 75 "a signal while it is extended" "$QCNN" train -q "$stop" --set=train.epochs=99 --set=log.dir=short --resume=latest config.yaml
tap_ok "the weights are there" test -s "$(tap_run short)/weights.bin"
: >open
tap_exit 0 "more epochs for an interrupted run" "$QCNN" train --no-progress "$stop" --set=train.epochs=120 --set=log.dir=short --resume=latest config.yaml
tap_has err "for 120 epochs in place of 99" "it says so"
train -q "$stop" --set=train.epochs=120 --set=log.dir=long
same_runs "more epochs for an interrupted run" short long

# How to repeat it.
tap_is "$(grep -c -e '--resume' short/latest/report.html)" 0 "the report repeats the whole training"
tap_done
