#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trainings killed at a hundred moments each go on to the bits of the one that never stopped.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
more="--set=log.checkpoint_steps=7 --set=train.epochs=1000 --set=train.batch_size=4 --set=log.histograms=7 --set=run.threads=auto"

killed 100 adam $more
killed 100 momentum $more "--set=train.optimizer={sgd: {momentum: 0.9}}"
killed 100 spsa $more "--set=train.optimizer={spsa: {}}"
killed 100 starts $more --set=train.restarts=5 --set=train.epochs=250
killed 100 seldom $more --set=log.checkpoint_steps=137 "--set=train.optimizer={adam: {use_ema: true}}"
killed 100 callbacks $more "--set=train.callbacks={reduce_lr_on_plateau: {monitor: loss, patience: 3}}"
tap_done
