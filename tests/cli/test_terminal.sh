#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Progress in a real terminal (tmux draws it), wide and narrow, with --live and with a key pressed; and in a pipe.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_models
make_configs

# Beside no terminal: one line an epoch, no control characters; -q says nothing.
tap_exit 0 "in a pipe" sh -c '"$QCNN" train --fresh config.yaml 2>&1 | cat >piped'
tap_is "$(grep -c '^epoch [12]/2  loss [0-9.]*  sign_accuracy' piped)" 2 "one line an epoch"
tap_is "$(tr -d '\n -~' <piped | wc -c | tr -d ' ')" 0 "nothing but text"
tap_exit 0 "-q" "$QCNN" train -q --fresh config.yaml
tap_is "$(cat out err)" "" "says nothing"

command -v tmux >/dev/null || { tap_skip "tmux is not installed"; tap_done; }
export LC_ALL=C.UTF-8
unset TMUX
terminal() { tmux -S ./tmux -f /dev/null "$@"; }
terminal new-session -d -s t -x 80 -y 24 2>tmux.err || { tap_skip "tmux does not start"; tap_done; }
trap 'terminal kill-server 2>/dev/null' EXIT

# show COLUMNS COMMAND: in a terminal of that width; its exit status comes into the file status.
show() {
	rm -f status
	terminal kill-window -a -t t: 2>/dev/null
	terminal new-window -t t: "TERM=screen; export TERM; $2; echo \$? >status.new; mv status.new status; sleep 600"
	terminal resize-window -t t: -x "$1" -y 24
}
# The screen now, without trailing blanks.
screen() { terminal capture-pane -p -t t: >screen; }
seen() { screen; grep -Eq -- "$1" screen; }
# Waiting again and again for what does not come takes minutes.
wait_for() { tap_ok "$1" tap_until "$2" 60 || { tap_note "$(terminal list-windows -t t: 2>&1; cat screen)"; tap_done; exit 1; }; }
widest() { awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' screen; }
# More than a look takes, so that there is something to see.
slow="--fresh --set train.epochs=1000000 --set data.rounds=4000 --set log.tensorboard=false"

for columns in 80 34; do     # the narrow one has no room for a bar
	show $columns "'$QCNN' train $slow config.yaml"
	wait_for "$columns columns: lines of epochs come" "seen '^epoch +[0-9]+/1000000'"
	tap_ok "$columns columns: nothing is wider ($(widest))" test "$(widest)" -le $columns
	terminal send-keys -t t: C-c
	wait_for "$columns columns: Ctrl-C ends it" "test -s status"
	tap_is "$(cat status)" 75 "$columns columns: with the status of a run that goes on later"
	wait_for "$columns columns: how, is said" "screen; tr -d '\\n ' <screen | grep -q 'thesamecommand'"
done
show 34 "'$QCNN' train --live $slow config.yaml"
wait_for "--live draws curves, the legend on one line" "seen '^loss  ⠤⠤ training  o validation$'"
wait_for "braille and the axis" "seen '│[⡀⡄⡆⡇⣇⣧⣷⣿]'"
terminal send-keys -t t: C-c
wait_for "Ctrl-C ends it" "test -s status"
tap_is "$(cat status)" 75 "likewise"

show 60 "'$QCNN' train --live=sign_accuracy ${slow#--fresh} config.yaml"
wait_for "after a resume another metric is drawn" "seen '^ *sign_accuracy  ⠤⠤ training  o validation$'"
wait_for "from the first epoch on" "seen '^ +epoch 1  '"
terminal send-keys -t t: C-c
wait_for "Ctrl-C ends it again" "test -s status"

show 40 "'$QCNN' train --fresh config.yaml"
wait_for "a training in 40 columns" "test -s status"
wait_for "its summary" "seen 'the report is in'"
tap_is "$(grep -c '^  ' screen | awk '{ print ($1 > 2) }')" 1 "lines that continue are indented" || cat screen
tap_ok "words are whole" seen '^  (sign_accuracy|0\.[0-9]+)[,;]?'
show 80 "'$QCNN' train --fresh config.yaml"
wait_for "a training to its end" "test -s status"
tap_is "$(cat status)" 0 "ends well"
wait_for "the report's place is told" "seen 'report.html'"
tap_ok "its epochs stand there" seen '^epoch 2/2  loss'
tap_done
