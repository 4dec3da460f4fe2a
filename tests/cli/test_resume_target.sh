#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run that one instruction set has begun goes on with that set, whatever this machine's best is.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
sed "s#, isa: [a-z0-9]*##" config.yaml >any.yaml && mv any.yaml config.yaml
best=$("$QCNN" info | sed -n 's/^kernels *\([a-z0-9]*\).*/\1/p')
[ "$best" != baseline ] || tap_skip_all "this machine lacks avx2"
more="--set=log.checkpoint_steps=1 --set=train.epochs=60 --set=train.batch_size=4 --no-progress"

"$QCNN" train -q $more --set=log.dir=calm --set=run.isa=baseline -o calm.bin config.yaml

# A program that stops the training after its first epoch; it changes no result.
stopping='--set=train.callbacks={command: {run: "kill -TERM $PPID", on: epoch}}'

# begun ISA: a run that was stopped.
begun() {
	rm -rf runs
	tap_exit 75 "stopped on $1" "$QCNN" train $more --set=train.epochs=1000000 --set=run.isa="$1" "$stopping" config.yaml
}

tap_exit 75 "stopped in mid-training" "$QCNN" train $more --set=run.isa=baseline "$stopping" config.yaml
tap_exit 0 "the machine's best set would be $best: it goes on" "$QCNN" train $more -o got.bin config.yaml
tap_has err "was begun with baseline, which computes here too, in place of $best" "with that of its beginning"
tap_has err "resuming runs/cluster-" "where it was"
tap_same got.bin calm.bin "to the bits of an uninterrupted run"
tap_has runs/latest/run.json '"isa": "baseline"' "which is recorded"

begun baseline
tap_exit 75 "another set that was asked for" sh -c "'$QCNN' train $more --set=train.epochs=1000000 --set=run.isa=$best '$stopping' config.yaml"
tap_has err "differs from this training in run.isa alone: it was begun with baseline; --set run.isa=baseline goes on with it" "is told of the run"
tap_is "$(ls -d runs/cluster-* | wc -l | tr -d ' ')" 2 "and begins another one"
old=$(ls -d runs/cluster-* | head -n 1)
tap_exit 75 "without a set the newest goes on" sh -c "'$QCNN' train $more --set=train.epochs=1000000 '$stopping' config.yaml"
tap_ok "with its own" sh -c "! grep -q 'was begun with' err"
tap_exit 75 "the older one by name" sh -c "'$QCNN' train $more --set=train.epochs=1000000 --resume=${old#runs/} '$stopping' config.yaml"
tap_has err "was begun with baseline" "with the set that it had"
tap_exit 78 "not with another one that was asked for" "$QCNN" train $more --set=train.epochs=1000000 --resume="${old#runs/}" --set=run.isa=$best config.yaml
tap_has err "run.isa is \"$best\" here and \"baseline\" there" "which is said"
tap_exit 75 "workers compute with it, too" sh -c "'$QCNN' train $more --set=train.epochs=1000000 --resume=${old#runs/} --hosts local:2 '$stopping' config.yaml"
tap_has err "was begun with baseline" "said before they start"
tap_exit 75 "--fresh looks at none" sh -c "'$QCNN' train $more --set=train.epochs=1000000 --fresh '$stopping' config.yaml"
tap_ok "and says nothing of it" sh -c "! grep -q 'was begun with' err"

# A run that is extended, too.
rm -rf runs
"$QCNN" train -q --set=train.epochs=3 --set=run.isa=baseline config.yaml
for epochs in 4 5; do
	[ $epochs = 4 ] && config=config.yaml || config=
	[ $epochs = 4 ] || sed -i 's/^  isa: baseline /  isa: auto /' "$(tap_run runs)/config.yaml"
	tap_exit 0 "extended to $epochs epochs" "$QCNN" train --no-progress --resume=latest --set=train.epochs=$epochs $config
	tap_has err "was begun with baseline, which computes here too, in place of $best" "with the set of its beginning"
done
"$QCNN" train -q --set=train.epochs=5 --set=run.isa=baseline --set=log.dir=long config.yaml
tap_same runs/latest/weights.bin long/latest/weights.bin "to the bits of a longer training"
tap_exit 78 "not with another one that was asked for" "$QCNN" train -q --resume=latest --set=train.epochs=6 --set=run.isa=$best config.yaml
sed -i.bak 's/"isa": "baseline"/"isa": "lost"/' "$(tap_run runs)/run.json"
tap_exit 78 "a set that nobody knows" "$QCNN" train -q --resume=latest --set=train.epochs=6 config.yaml
tap_has err "run.isa is \"$best\" here and \"baseline\" there" "is no help"
tap_done
