# SPDX-License-Identifier: Apache-2.0
# Trainings that are not over before something has happened to them, however fast or slow the machine is: after three
# quarters of their updates they wait for a file. Usage: source this; `gate_options UPDATES` makes the program that waits,
# and leaves the options of a training in gate_options; `gate_shut` before it, `gate_open` when it may go on.

gate_options() {
	printf '#!/bin/sh\nwhile [ ! -e open ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n' >gate
	chmod +x gate
	gate_options="--set train.epochs=1000000 --set train.max_steps=$1 --set train.restarts=1 --set train.callbacks.checkpoint.path=gate.bin \
		--set train.callbacks.checkpoint.save_freq=$(($1 * 3 / 4)) --set train.callbacks.command.run=[./gate] \
		--set train.callbacks.command.on=checkpoint --set train.callbacks.command.timeout=1000"
}
gate_shut() { rm -f open; }
gate_open() { : >open; }
