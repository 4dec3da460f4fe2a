# SPDX-License-Identifier: Apache-2.0
# Trainings that are not over before something has happened to them, however fast or slow the machine is: after three
# quarters of their updates they wait for a file. Usage: source this; `hold_options UPDATES` makes the program that waits,
# and leaves the options of a training in hold_options; `hold_training` before it, `release_training` when it may
# go on; the file `held` says that it waits.

hold_options() {
	printf '#!/bin/sh\n: >held\nwhile [ ! -e open ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n' >gate
	chmod +x gate
	hold_options="--set train.epochs=1000000 --set train.max_steps=$1 --set train.restarts=1 --set train.callbacks.checkpoint.path=gate.bin \
		--set train.callbacks.checkpoint.save_freq=$(($1 * 3 / 4)) --set train.callbacks.command.run=[./gate] \
		--set train.callbacks.command.on=checkpoint --set train.callbacks.command.timeout=1000"
}
hold_training() { rm -f open held; }
release_training() { : >open; }
