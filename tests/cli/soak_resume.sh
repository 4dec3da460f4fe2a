#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trainings killed at a hundred moments each go on to the bits of the one that never stopped.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
. "$top_srcdir/tests/cli/file_faults.sh"
make_files
make_learner
more="--set=log.checkpoint_steps=7 --set=train.epochs=1000 --set=train.batch_size=4 --set=log.histograms=7 --set=run.threads=auto"

killed 100 adam $more
killed 100 momentum $more "--set=train.optimizer={sgd: {momentum: 0.9}}"
killed 100 spsa $more "--set=train.optimizer={spsa: {}}"
killed 100 starts $more --set=train.restarts=5 --set=train.epochs=250
killed 100 seldom $more --set=log.checkpoint_steps=137 "--set=train.optimizer={adam: {use_ema: true}}"
killed 100 saves $more --set=log.checkpoint_steps=1
killed 100 rate $more "--set=train.callbacks={reduce_lr_on_plateau: {monitor: loss, patience: 3}}"
killed 100 callbacks $more "--set=train.callbacks={early_stopping: {monitor: loss, patience: 900, restore_best_weights: true},
	checkpoint: {path: 'best/{epoch}.bin', save_best_only: true, monitor: loss, keep: 3}, csv: {}, command: {run: ['true'], on: [checkpoint]}}"
killed 100 shots $more --set=log.checkpoint_steps=3 --set=train.epochs=150 --set=run.shots=100 --set=run.gradient=shift
awk 'BEGIN { OFS = ","; print "a,b,c,d,label"; for (i = 0; i < 60; i++) print sin(i), cos(3 * i), sin(7 * i), cos(i * i), i % 2 ? 1 : -1 }' >stream.csv
cat >stream.yaml <<END
model: {file: cluster.qcnn}
data: {train: stream.csv, label: label, split: 0.75, streaming: on}
train: {metrics: [sign_accuracy]}
run: {seed: 7, isa: baseline}
END
mv config.yaml keep.yaml
mv stream.yaml config.yaml
killed 100 streaming $more
mv keep.yaml config.yaml

# A fault at each call to the file system.
for what in kill tear; do faults $what "137 0" 1 1 "$what" $faulty_more "$faulty_callbacks"; done
for what in "full 1" "full 2" "full 3" "full 7" "full 0" "quota 3" "broken 1" "broken 0" "readonly 0"; do faults "$what" "0 73 74" 1 1 "$what" $faulty_more "$faulty_callbacks"; done
for what in TERM INT HUP USR1 USR2 XCPU; do faults $what "0 75" 1 1 $what $faulty_more "$faulty_callbacks"; done
faults tear "137 0" 1 1 "starts, torn" $faulty_more --set=train.restarts=3
faults "full 2" "0 73 74" 1 1 "starts, no room" $faulty_more --set=train.restarts=3
faults TERM "0 75" 1 1 "starts, stopped" $faulty_more --set=train.restarts=3
tap_done
