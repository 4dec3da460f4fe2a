# SPDX-License-Identifier: Apache-2.0
# Callbacks of a training: what they write, run, refuse and change, and that a killed run goes on with them.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
cp "$top_srcdir/examples/cluster/cluster.qcnn" .
cat >config.yaml <<'END'
model: {file: cluster.qcnn, const: {n: 4}}
data: {generate: cluster-excitation, rounds: 10, split: 0.75}
train: {epochs: 30, batch_size: 8, optimizer: {adam: {learning_rate: 0.1}}, metrics: [sign_accuracy]}
run: {seed: 3, isa: baseline, threads: 1}
END
train() { "$QCNN" train --fresh --no-progress "$@" config.yaml; }
run=runs/latest
# Numbers of a key in metrics.jsonl, a line each.
numbers() { sed -n "s/.*\"$1\": \\([^,}]*\\).*/\\1/p" $run/metrics.jsonl; }
least_epoch() { numbers "$1" | awk 'NR == 1 || $1 < best { best = $1; at = NR } END { print at }'; }

# early_stopping: the epoch, the weights, the words.
stop='--set=train.callbacks={early_stopping: {patience: 2, restore_best_weights: true}, checkpoint: {path: "all/{epoch}.bin"}}'
tap_exit 0 "early_stopping" train "$stop"
n=$(numbers epoch | tail -1)
best=$(least_epoch val_loss)
tap_ok "ends before the last epoch, two epochs behind the best one ($best, $n)" test "$n" -lt 30 -a "$n" -eq $((best + 2))
tap_has err "stopped early after epoch $n, since val_loss had not improved for 2 epochs; the weights are those of epoch $best" "which is said"
tap_has $run/run.json "\"stopped_epochs\": [$n]" "and written down"
tap_has $run/run.json "\"restored_epochs\": [$best]" "with the epoch that was the best"
tap_has $run/report.html "stopped early after epoch $n" "the report says it"
tap_has $run/report.html " for $n epochs." "with how many epochs were trained"
tap_has $run/report.html "<b>$best of $n</b><span>best epoch" "and which of them was the best"
values() { "$QCNN" weights show --json "$1" | sed 's/"metadata".*//'; }
tap_is "$(values $run/all/$best.bin)" "$(values $run/weights.bin)" "its weights are the result"
tap_ok "those of the last epoch are not" test "$(values $run/all/$n.bin)" != "$(values $run/weights.bin)"
loss_of() { "$QCNN" infer -q --json "$1" | sed 's/.*"loss": *\([^,}]*\).*/\1/'; }
tap_is "$(loss_of $run/weights.bin)" "$(numbers val_loss | sort -g | head -1)" "and have the least val_loss"
tap_is "$(loss_of $run/all/1.bin)" "$(numbers val_loss | head -1)" "a file of epoch 1 has that of epoch 1"
cp $run/weights.bin a.bin
tap_exit 0 "in a pipe" train "$stop" --set=train.callbacks.early_stopping.restore_best_weights=false
"$QCNN" train --fresh "$stop" config.yaml 2>err
tap_has err "epoch $n: stopped early, since val_loss is not better than" "a line of the progress says it too"

"$QCNN" train --fresh "$stop" --set=train.restarts=3 config.yaml 2>err
sed -n 's/^restart [1-3].3  loss \([0-9.]*\) .*/\1/p' err >got
sed -n 's/.*"start_losses": \[\([^]]*\)\].*/\1/p' $run/run.json | tr ',' '\n' | awk '{ printf "%.4f\n", $1 }' >want
tap_same got want "the lines of restarts have the losses of the weights that are kept"
tap_ok "and name their epochs" grep -Eq "^restart .* stopped after epoch [0-9]+, with the weights of epoch [0-9]+$" err

# What changes no result is not in weights.bin.
tap_exit 0 "other files and programs" train "$stop" '--set=train.callbacks.csv={separator: ";"}' '--set=train.callbacks.command={run: ["true"]}' '--set=train.callbacks.checkpoint.path=x.bin'
tap_same $run/weights.bin a.bin "the same bits"
tap_exit 0 "other patience" train "$stop" --set=train.callbacks.early_stopping.patience=1
tap_ok "is another configuration" sh -c "! cmp -s $run/weights.bin a.bin"

# reduce_lr_on_plateau: the rates by the rule, from the numbers of the same file.
tap_exit 0 "reduce_lr_on_plateau" train '--set=train.callbacks={reduce_lr_on_plateau: {patience: 1, factor: 0.5, cooldown: 1, min_lr: 0.03}}'
numbers val_loss | awk 'BEGIN { rate = 0.1 }
	{ printf "%.17g\n", rate; if (cool > 0) { cool--; wait = 0 }
	if (NR == 1 || $1 + 1e-4 < best) { best = $1; wait = 0 }
	else if (!cool && ++wait >= 1 && rate > 0.03) { rate = rate / 2 > 0.03 ? rate / 2 : 0.03; cool = 1; wait = 0 } }' >want
numbers learning_rate | awk '{ printf "%.17g\n", $1 }' >got
tap_same got want "the rates of metrics.jsonl"
tap_is "$(sed 1d $run/history.csv | cut -d, -f8 | awk '{ printf "%.17g\n", $1 }')" "$(cat want)" "those of history.csv"
tap_ok "it did fall" test "$(sort -u want | wc -l)" -ge 3

# checkpoint: keep, updates, starts.
tap_exit 0 "keep" train --set=train.epochs=5 '--set=train.callbacks={checkpoint: {path: "k/{epoch:03d}-{loss:.1e}.bin", keep: 2}}'
tap_is "$(ls $run/k | cut -c1-4 | tr '\n' ' ')" "004- 005- " "the newest two are there"
tap_exit 0 "save_freq" train --set=train.epochs=3 '--set=train.callbacks={checkpoint: {path: "s/{epoch}-{batch}.bin", save_freq: 3}}'
tap_is "$(ls $run/s | tr '\n' ' ')" "1-3.bin 2-2.bin 3-1.bin 3-4.bin " "every third update"
tap_exit 0 "starts" train --set=train.restarts=2 --set=train.epochs=2 "--set=train.callbacks={checkpoint: {path: \"$PWD/abs/w.bin\"}, csv: {path: \"{start}.csv\"}}"
tap_is "$(cd abs && ls -d */* | tr '\n' ' ')$(cd $run && ls ./*.csv | tr '\n' ' ')" "start-1/w.bin start-2/w.bin ./1.csv ./2.csv ./history.csv " "have files of their own"

# csv as Keras writes it.
tap_exit 0 "csv" train --set=train.epochs=3 --set=train.validation_freq=2 '--set=train.callbacks={csv: {separator: ";"}}'
tap_is "$(head -1 $run/training.csv | tr -d '\r')" "epoch;learning_rate;loss;sign_accuracy;val_loss;val_sign_accuracy" "columns by their names"
tap_is "$(sed 1d $run/training.csv | tr -d '\r' | cut -d';' -f1,3)" "$(numbers loss | awk '{ print NR - 1 ";" $1 }')" "epochs from 0, and the losses"
tap_is "$(sed -n 2p $run/training.csv | tr -d '\r' | cut -d';' -f5,6)" "NA;NA" "NA where there is no validation"
tap_is "$(sed -n 2p $run/history.csv | cut -d, -f6,7 | tr -d ,)/$(sed -n 3p $run/history.csv | cut -d, -f6)" "/$(numbers val_loss | head -1)" "nothing in history.csv"
for k in 1 2; do train -q --set=train.epochs=2 "--set=train.callbacks={csv: {path: \"$PWD/both.csv\", append: true}}"; done
tap_is "$(cut -d, -f1 both.csv | tr -d '\r' | tr '\n' ' ')" "epoch 0 1 0 1 " "append"

# Epochs that are no passes.
tap_exit 0 "steps_per_epoch" train --set=train.epochs=4 --set=train.initial_epoch=1 --set=train.steps_per_epoch=6
tap_is "$(numbers epoch | tr '\n' ' ')$(numbers step | tr '\n' ' ')" "2 3 4 6 12 18 " "epochs and updates"
tap_exit 78 "initial_epoch beyond the last" train --set=train.epochs=4 --set=train.initial_epoch=4
tap_has err "nothing is left to train" "says why"

# command: what it knows, when it runs, and that it may fail or hang.
cat >told.sh <<'END'
echo "$1 $QCNN_EVENT ${QCNN_EPOCH:-} ${QCNN_STEP:-} ${QCNN_METRIC_VAL_SIGN_ACCURACY:+there} ${QCNN_STATE:-} ${QCNN_FILE##*/} ${QCNN_RUN##*/}"
END
tap_exit 0 "command" train --set=train.epochs=2 "--set=train.callbacks={checkpoint: {}, command: {run: [sh, \"$PWD/told.sh\", 'a;\$b'], on: [epoch, checkpoint, end]}}"
name=$(basename "$(tap_run runs)")
cat >want <<END
a;\$b epoch 1 4 there   $name
a;\$b checkpoint 1 4 there  epoch-0001.bin $name
a;\$b epoch 2 8 there   $name
a;\$b checkpoint 2 8 there  epoch-0002.bin $name
a;\$b end 2 8 there finished weights.bin $name
END
tap_same $run/command.log want "knows the event, the place and the file, and gets its words as they are"
tap_is "$(wc -l <out | tr -d ' ')" 0 "what it prints is in command.log alone"
tap_exit 0 "command under the usual signals" train --set=train.epochs=1 \
	'--set=train.callbacks={command: {run: [awk, "/^Sig(Blk|Ign)/ { print $2 }", /proc/self/status], on: end}}'
mask=$((1 << (13 - 1) | 1 << (25 - 1)))         # SIGPIPE, SIGXFSZ
tap_is "$(while read -r bits; do printf '%d ' $((0x$bits & mask)); done <$run/command.log)" "0 0 " "neither blocks nor ignores SIGPIPE and SIGXFSZ"
tap_exit 0 "a shell's text that fails" train --set=train.epochs=4 '--set=train.callbacks={command: {run: "echo no >&2; exit 3", on: epoch}}'
tap_is "$(grep -c 'ended with status 3' err) $(grep -c no $run/command.log)" "1 4" "is told once, and tried each time"
tap_exit 0 "a program that is not there" train --set=train.epochs=1 '--set=train.callbacks={command: {run: [no-such-program]}}'
tap_has err "no-such-program cannot be started" "is told"
tap_exit 0 "one that hangs" train --set=train.epochs=1 '--set=train.callbacks={command: {run: "trap \"\" TERM; sleep 1000 & echo $!; wait; wait", timeout: 0.2}}'
tap_has err "was ended after 0.2 seconds" "is ended"
tap_is "$(ps -o stat= -p "$(cat $run/command.log)" 2>/dev/null | grep -v Z)" "" "with all that it started"
cat >slow.sh <<'END'
"$QCNN" train --fresh -q --set=log.dir=slow '--set=train.callbacks={command: {run: "touch began; sleep 1000", on: epoch, timeout: 1000}}' config.yaml 2>err &
pid=$!
for i in $(seq 2400); do [ ! -e began ] || break; sleep 0.05; done
kill -s TERM $pid
wait $pid
END
tap_exit 75 "a signal does not wait for it" sh slow.sh

# Files that cannot be written.
tap_exit 0 "no room" train --set=train.epochs=3 '--set=train.callbacks={csv: {path: /dev/full}, checkpoint: {path: config.yaml/w.bin}}'
tap_is "$(grep -c 'train.callbacks.csv: cannot write' err) $(grep -c 'tries again' err)" "1 1" "one note in all"
mkdir room
cat >later.sh <<'END'
if [ "$QCNN_EPOCH" -eq 2 ]; then rm -f room/full.csv; fi
END
ln -s /dev/full room/full.csv
tap_exit 0 "room again" train --set=train.epochs=4 "--set=train.callbacks={csv: {path: \"$PWD/room/full.csv\"}, command: {run: [sh, later.sh], on: epoch}}"
tap_is "$(cut -d, -f1 room/full.csv | tr -d '\r' | tr '\n' ' ')" "epoch 0 1 2 3 " "and no line is lost"
tap_ok "the weights are there" test -s $run/weights.bin

# Rows that wait for room are in a checkpoint; files of weights are written when there is room, the newest of a name.
ln -s /dev/full room/stop.csv
cat >stopper.sh <<'END'
[ "$QCNN_EPOCH" -ne 2 ] || [ -e stopped ] || { touch stopped; kill -s TERM $PPID; }
END
stopped() { "$QCNN" train --no-progress --set=log.dir=stopped-runs --set=train.epochs=4 "--set=train.callbacks={csv: {path: \"$PWD/room/stop.csv\"}, command: {run: [sh, stopper.sh], on: epoch}}" config.yaml; }
tap_exit 75 "stopped without room" stopped
rm room/stop.csv
tap_exit 0 "gone on with room" stopped
tap_is "$(ls stopped-runs | wc -l | tr -d ' ')" 2 "by the same run and latest"
tap_is "$(cut -d, -f1 room/stop.csv | tr -d '\r' | tr '\n' ' ')" "epoch 0 1 2 3 " "and no line is lost"
cat >later.sh <<'END'
if [ "$QCNN_EPOCH" -eq 3 ]; then chmod 755 room/2.bin room/same.bin; rm -r room/2.bin room/same.bin; fi
END
mkdir room/2.bin room/same.bin
tap_exit 0 "no room for files of weights" train --set=train.epochs=4 \
	"--set=train.callbacks=[{checkpoint: {path: \"$PWD/room/{epoch}.bin\"}}, {checkpoint: {path: \"$PWD/room/same.bin\", save_freq: 3}}, {command: {run: [sh, later.sh], on: epoch}}]"
tap_is "$(cd room && ls | grep bin | tr '\n' ' ')" "1.bin 2.bin 3.bin 4.bin same.bin " "all are there in the end"
tap_exit 0 "as they would have been" train --set=train.epochs=4 "--set=train.callbacks=[{checkpoint: {path: \"$PWD/abs/{epoch}.bin\"}}, {checkpoint: {path: \"$PWD/abs/same.bin\", save_freq: 3}}]"
tap_ok "bit for bit" sh -c 'for f in 1 2 3 4 same; do cmp room/$f.bin abs/$f.bin || exit 1; done'

# Refused, before anything is done.
refused() {
	tap_exit 78 "refused: $1" train "--set=train.callbacks=$1"
	tap_has err "$2" "$2"
	tap_exit 78 "by check too" "$QCNN" check "--set=train.callbacks=$1" config.yaml
}
refused '{early_stopping: {monitor: accuracy}}' "there are loss, sign_accuracy, val_loss, val_sign_accuracy"
refused '{early_stopping: {mode: least}}' "one of: auto, min, max"
refused '{early_stoping: {}}' "did you mean \`early_stopping\`?"
refused '{checkpoint: {path: "{epochs}"}}' "there is no {epochs}"
refused '{checkpoint: {save_freq: 5, save_best_only: true}}' "known at the ends of epochs alone"
refused '{command: {}}' "command needs the option \`run\`"
refused '{command: {run: x, on: checkpoint}}' "train.callbacks.checkpoint is not given"
refused '{csv: {separator: ", "}}' "it must be one character"
refused '[[csv]]' "one name, or a map from one name to its options"
refused '3' "a map from names to options, or a list of such maps"
refused '[checkpoint, {checkpoint: {keep: 3}}]' "checkpoint and checkpoint both write to saved/epoch-{epoch:04d}.bin"
refused '[csv, {checkpoint: {path: training.csv}}]' "checkpoint and csv both write to training.csv"
refused '[{csv: {path: a/../t.csv}}, {checkpoint: {path: ./t.csv}}]' "checkpoint and csv both write to a/../t.csv"
for own in weights.bin ./metrics.jsonl x/../run.json a/b/../.././train/x checkpoint/1.bin train/x history.csv; do
	refused "{checkpoint: {path: $own}}" "$own is what the run itself writes in its folder"
done
refused '{csv: {path: run.json}}' "run.json is what the run itself writes"
refused '[early_stopping, {early_stopping: {monitor: nothing}}]' "monitors nothing, which is not measured"
refused "[$(printf 'csv,%.0s' $(seq 33))]" "more than 32 callbacks"
tap_exit 78 "a schedule and a plateau" train --set=train.schedule=cosine '--set=train.callbacks={reduce_lr_on_plateau: {}}'
tap_exit 78 "val_loss without validation" train --set=data.split=1 '--set=train.callbacks={early_stopping: {}}'
tap_has err "monitor one of loss, sign_accuracy" "says what there is"

# The example.
mkdir example
tap_exit 0 "the example of callbacks" sh -c 'cd example && "$QCNN" train -q --set=train.restarts=1 --set=run.threads=1 "$top_srcdir/examples/cluster/callbacks.yaml"'
tap_ok "keeps three files at most" test "$(ls example/runs/latest/best | wc -l)" -le 3
tap_has example/runs/latest/run.json '"restored_epochs": ' "and the best weights"

# The printed configuration reads back.
tap_exit 0 "printed" "$QCNN" config '--set=train.callbacks={early_stopping: {baseline: 0.5}, checkpoint: {save_freq: 7}, csv: {separator: "\t"}, command: {run: ["a b", "c"], on: [epoch, end]}}' config.yaml
sed 's/ *# .*//' out >printed.yaml
tap_exit 0 "read back" "$QCNN" config printed.yaml
sed 's/ *# .*//' out >again.yaml
tap_same again.yaml printed.yaml "the same"

# Several of a kind, in a list.
one='{early_stopping: {patience: 2, restore_best_weights: true}, checkpoint: {path: "all/{epoch}.bin"}}'
tap_exit 0 "a list of one of each kind" train '--set=train.callbacks=[{early_stopping: {patience: 2, restore_best_weights: true}}, csv]'
tap_same $run/weights.bin a.bin "is the map of the same"
tap_exit 0 "several of a kind" train '--set=train.callbacks=[{early_stopping: {patience: 20}}, {early_stopping: {monitor: loss, min_delta: 10, patience: 7}},
	{checkpoint: {path: "a/{epoch}.bin", keep: 2}}, {checkpoint: {path: "b/{epoch}-{batch}.bin", save_freq: 5}},
	{command: {run: "echo one >>one", on: checkpoint}}, {command: {run: "echo two >>two", on: [epoch, end]}}, csv, {csv: {path: semi.csv, separator: ";"}}]'
tap_is "$(numbers epoch | tail -1)" 8 "the first of the early_stopping ends the start"
tap_is "$(grep -c '^qcnn train: stopped early after epoch 8$' err)" 1 "which is said, without the condition of one of them"
tap_is "$(ls $run/a | tr '\n' ' ')" "7.bin 8.bin " "one checkpoint keeps two files"
steps=$(numbers step | tail -1)
tap_is "$(ls $run/b | wc -l)" $((steps / 5)) "the other has one every 5 updates"
tap_is "$(wc -l <one) $(wc -l <two)" "$((8 + steps / 5)) 9" "both commands run at their times"
tap_is "$(tr ';' , <$run/semi.csv | cksum)" "$(cksum <$run/training.csv)" "both csv files hold the same"
command rm one two
tap_exit 0 "the last restore_best_weights counts" train '--set=train.callbacks=[{early_stopping: {patience: 2, restore_best_weights: true}}, {early_stopping: {monitor: loss, mode: max, patience: 30, restore_best_weights: true}}, {checkpoint: {path: "{epoch}.bin"}}]'
worst=$(numbers loss | awk 'NR == 1 || $1 > most { most = $1; at = NR } END { print at }')
tap_is "$(values $run/$worst.bin)" "$(values $run/weights.bin)" "as with Keras"
tap_exit 0 "two that lower the rate" train '--set=train.callbacks=[{reduce_lr_on_plateau: {patience: 1, min_delta: 10, factor: 0.5}}, {reduce_lr_on_plateau: {patience: 2, min_delta: 10, factor: 0.25}}]' --set=train.epochs=5
tap_is "$(numbers learning_rate | awk '{ printf "%.8g ", $1 }')" "0.1 0.1 0.05 0.00625 0.003125 " "share it"
tap_exit 0 "printed" "$QCNN" config '--set=train.callbacks=[csv, {csv: {path: b.csv}}, {command: {run: [a], on: end}}]' config.yaml
sed 's/ *# .*//' out >printed.yaml
tap_exit 0 "read back" "$QCNN" config printed.yaml
sed 's/ *# .*//' out >again.yaml
tap_same again.yaml printed.yaml "the same"
"$QCNN" config --json printed.yaml >a.json
"$QCNN" config --json '--set=train.callbacks=[csv, {csv: {path: b.csv}}, {command: {run: [a], on: end}}]' config.yaml >b.json
tap_same a.json b.json "in JSON too"
tap_exit 0 "--set finds the only entry of a name" "$QCNN" config --set 'train.callbacks=[csv, {command: {run: [a]}}]' --set train.callbacks.csv.path=c.csv --set train.callbacks.command.timeout=7 config.yaml
tap_ok "and changes it" sh -c 'grep -q "path: c.csv" out && grep -q "timeout: 7" out'
tap_exit 78 "but not one of two" "$QCNN" config --set 'train.callbacks=[csv, {csv: {path: b.csv}}]' --set train.callbacks.csv.path=c.csv config.yaml
tap_has err 'the list has more than one entry `csv`' "which is said"
tap_exit 78 "nor one that is not there" "$QCNN" config --set 'train.callbacks=[csv]' --set train.callbacks.command.timeout=7 config.yaml
tap_has err 'the list has no entry `command`' "which is said, too"

# validation_freq: a number, or epochs.
validated() { sed -n 's/.*"epoch": \([0-9]*\).*"val_loss".*/\1/p' $run/metrics.jsonl | tr '\n' ' '; }
tap_exit 0 "validation_freq: a number" train --set=train.epochs=7 --set=train.validation_freq=3
tap_is "$(validated)" "3 6 " "after every third epoch"
tap_exit 0 "validation_freq: a list" train --set=train.epochs=7 '--set=train.validation_freq=[5, 1, 2, 40]'
tap_is "$(validated)" "1 2 5 " "after these"
tap_exit 78 "validation_freq: a list of other epochs" train --set=train.epochs=7 '--set=train.validation_freq=[8, 40]'
tap_has err "train.validation_freq lists none of the epochs 1 to 7" "is no validation at all"
for bad in '[]' '[0]' '[1.5]' '[[1]]' '[1, x]' 0; do
	tap_exit 78 "validation_freq: $bad" "$QCNN" config --set "train.validation_freq=$bad" config.yaml
done

# Killed again and again, also in the middle of a plateau, with several of each kind.
tap_killed='--set=train.callbacks=[{early_stopping: {patience: 9, restore_best_weights: true}}, {early_stopping: {monitor: loss, patience: 15, restore_best_weights: true}}, {reduce_lr_on_plateau: {patience: 2, factor: 0.7}}, {reduce_lr_on_plateau: {monitor: loss, patience: 3, factor: 0.9}}, csv, {checkpoint: {path: "w{epoch}.bin", keep: 3, save_freq: 5}}, {checkpoint: {path: "wbest{epoch}.bin", keep: 2, save_best_only: true, monitor: loss}}, {csv: {path: other.csv, separator: ";"}}, {command: {run: [./gate], on: epoch}}]'
after_killed() {
	tap_same killed/latest/training.csv calm/latest/training.csv "$1: the same training.csv"
	tap_same killed/latest/other.csv calm/latest/other.csv "$1: the same other.csv"
	tap_is "$(cd killed/latest && ls w*.bin)" "$(cd calm/latest && ls w*.bin)" "$1: the same files"
}
rm() { if [ "$*" = "-rf calm killed" ]; then after_killed callbacks; fi; command rm "$@"; }
make_gate
killed 3 callbacks --set=log.checkpoint_steps=1 --set=train.epochs=40 --set=train.batch_size=4 --set=log.histograms=3 "$tap_killed"
tap_done
