# SPDX-License-Identifier: Apache-2.0
# qcnn runs: finding runs by name, the tables, the curves, and what may be removed.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_models
make_configs

tap_exit 0 "no runs yet" "$QCNN" runs
tap_is "$(cat out)" "" "nothing is listed"
tap_has err "there are no runs in runs" "and it says so"
tap_exit 0 "no runs as JSON" "$QCNN" runs --json
tap_is "$(cat out)" '{"schema": 1, "runs": []}' "an empty list"

"$QCNN" train -q --set log.name=one config.yaml 2>/dev/null
"$QCNN" train -q --set log.name=two --set train.optimizer.adam.learning_rate=0.1 --set train.restarts=2 config.yaml 2>/dev/null
"$QCNN" train -q --set log.name=two config.yaml 2>/dev/null
mkdir runs/other
tap_exit 0 "list" "$QCNN" runs list
tap_is "$(sed 1d out | awk '{ print $1 }' | sed 's/-.*//' | sort | tr '\n' ' ')" "one two two " "three runs; latest and other folders are none"
tap_is "$(sed -n 1p out | tr -s ' ')" "run state ended epochs best_epoch loss val_loss seconds set" "titles"
tap_is "$(grep -c 'log.name=two train.optimizer.adam.learning_rate=0.1 train.restarts=2$' out)" 1 "what a command changed"
tap_is "$(grep -c 'finished' out)" 3 "their states"
tap_exit 0 "sort" "$QCNN" runs --sort=val_sign_accuracy
tap_is "$(sed -n '1s/.*seconds *//p' out | tr -s ' ')" "val_sign_accuracy set" "a column for the metric"
awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^log.name=/) print $(i - 1) }' out >by_accuracy
sort -rg by_accuracy >sorted
tap_same by_accuracy sorted "the largest accuracy first"
tap_is "$(grep -c . by_accuracy)" 3 "all runs"
tap_exit 0 "sort by a loss" "$QCNN" runs --sort=val_loss --json
grep -o '"val_loss": [0-9.]*' out >by_loss
sort -gk2 by_loss >sorted
tap_same by_loss sorted "the smallest loss first"
tap_exit 2 "sort by what ranks no runs" "$QCNN" runs --sort=seconds
tap_exit 2 "sort by what no run has" "$QCNN" runs --sort=auc
tap_has err 'none of the runs has `auc`' "it says so"
tap_exit 0 "list is the default" "$QCNN" runs
tap_exit 0 "as JSON" "$QCNN" runs --json
tap_is "$(grep -o '"name": "[a-z]*' out | sort | tr '\n' ' ')" '"name": "one "name": "two "name": "two ' "the same"

tap_exit 0 "show by a beginning" "$QCNN" runs show one
tap_has out "runs/one-" "the run"
tap_has out "metrics.val_loss" "its numbers"
tap_exit 0 "show latest" "$QCNN" runs show latest
tap_is "$(grep . out | sed 's/^\([^ ]* *\).*/\1/' | awk '{ print length }' | sort -u | wc -l | tr -d ' ')" 1 "values stand below each other"
tap_exit 0 "show by path, as JSON" "$QCNN" runs show --json "$(ls -d runs/one-*)/"
cp out shown
tap_same shown "$(ls -d runs/one-*)/run.json" "the record"
tap_has shown "\"version\": \"$("$QCNN" --version | sed -n '1s/.* //p')\"" "it names the version that made it"
tap_exit 2 "show two that begin alike" "$QCNN" runs show two
tap_has err "2 runs in runs begin with \`two\`" "it says so"
tap_exit 66 "show what is not there" "$QCNN" runs show three
tap_has err "there is no run \`three\` in runs" "it says so"
tap_exit 66 "show a folder that is no run" "$QCNN" runs show runs/other
tap_exit 2 "show nothing" "$QCNN" runs show
tap_has err "usage: qcnn runs show RUN" "how it is used"
tap_exit 2 "an unknown action" "$QCNN" runs shwo one
tap_exit 0 "another folder" "$QCNN" runs --dir=nowhere

two=$(basename "$(ls -d runs/two-* | head -1)")
tap_exit 0 "compare" "$QCNN" runs compare one "$two"
tap_is "$(sed -n 1p out | awk '{ print NF }')" 2 "a column for each"
tap_is "$(grep '^train.optimizer.adam.learning_rate' out | tr -s ' ')" "train.optimizer.adam.learning_rate 0.02 0.1" "what differs"
tap_is "$(grep '^train.restarts' out | tr -s ' ')" "train.restarts 1 2" "this too"
tap_is "$(grep -c -e '^train.epochs' -e '^model' -e '^weights' out)" 0 "not what is equal"
tap_has out "val_loss" "the results"
tap_exit 0 "compare as SVG" "$QCNN" runs compare --svg=c.svg one "$two"
tap_is "$(grep -c '<path' c.svg)" 4 "training and validation of both"
tap_is "$(grep '<text' c.svg | grep -c "$two")" 1 "its name in the legend"
tap_ok "the losses of an epoch in a tooltip" grep -Eq "<title>epoch 2&#10;one-[-0-9]+ [0-9.]+, dashed [0-9.]+&#10;$two [0-9.]+, dashed [0-9.]+</title>" c.svg
tap_exit 0 "compare another metric" "$QCNN" runs compare --metric=sign_accuracy --svg=- one "$two"
tap_has out "sign_accuracy: training, and dashed validation" "it is drawn"
tap_exit 2 "compare what no run has" "$QCNN" runs compare --metric=wit --svg=- one "$two"
tap_exit 2 "compare one" "$QCNN" runs compare one
tap_exit 2 "compare nine" "$QCNN" runs compare 1 2 3 4 5 6 7 8 9
tap_has err "summary takes any number" "says what takes them"
tap_exit 2 "compare one with itself" "$QCNN" runs compare one one
tap_has err "is named twice" "it says so"

sed 's/layer conv /layer conv2 { param float u; ry(u) q[0]; } layer conv /' cluster.qcnn >wider.qcnn
tap_exit 0 "another model" "$QCNN" train -q --set log.name=wider --set model.file=wider.qcnn --set log.dir=models config.yaml
tap_exit 0 "compare with it" "$QCNN" runs compare one models/latest
tap_is "$(grep '^model ' out | tr -s ' ')" "model $(sha256sum cluster.qcnn | cut -c1-12) $(sha256sum wider.qcnn | cut -c1-12)" "the digests of the models differ"
tap_is "$(grep '^weights ' out | tr -s ' ')" "weights 5 6" "and the numbers of their weights"
sed -i.bak 's/"weights": 6, //' models/wider-*/run.json
tap_exit 0 "compare with a record without that number" "$QCNN" runs compare one "$(ls -d models/wider-*)"
tap_is "$(grep '^weights ' out | tr -s ' ')" "weights 5 -" "which is left open"

# Two configurations, three seeds; a repeated run; one that has not finished.
for seed in 1 2 3; do
	for rate in 0.05 0.1; do
		"$QCNN" train -q --set log.dir=many --set run.seed=$seed --set train.optimizer.adam.learning_rate=$rate config.yaml 2>/dev/null
	done
done
"$QCNN" train -q --fresh --set log.dir=many --set run.seed=2 --set train.optimizer.adam.learning_rate=0.1 config.yaml 2>/dev/null
"$QCNN" train -q --set log.dir=many --set run.seed=4 --set train.optimizer.adam.learning_rate=0.1 config.yaml 2>/dev/null
sed -i.bak 's/"finished"/"interrupted"/' "$(tap_run many)/run.json"
tap_exit 0 "summary" "$QCNN" runs --dir=many summary
tap_is "$(sed 's/ ± / /g; 1d' out | awk '{ print $1, $NF }' | sort | tr '\n' ' ')" "3 0.05 3 0.1 " "a row for each configuration, repetitions once"
tap_is "$(sed -n '1s/  */ /gp' out)" "runs loss sign_accuracy val_loss val_sign_accuracy train.optimizer.adam.learning_rate" "its columns"
for seed in 1 2 3; do
	sed 's/.*"val_loss": \([^,}]*\).*/\1/' "$(grep -l -e "run.seed=$seed\"" many/*/run.json | xargs grep -l 'learning_rate=0.05' | head -1)"
done | awk '{ s += $1; t += $1 * $1 } END { m = s / 3; printf "%.3f %.3f\n", m, sqrt((t - 3 * m * m) / 2) }' >want
tap_exit 0 "summary as JSON" "$QCNN" runs --dir=many summary --json --sort=val_loss
sed 's/{"runs": \[/\n&/g' out | grep '"learning_rate": 0.05' | sed 's/.*"val_loss": {"runs": 3, "mean": \([^,]*\), "deviation": \([^,]*\),.*/\1 \2/' |
	awk '{ printf "%.3f %.3f\n", $1, $2 }' >got
tap_same got want "mean and deviation"
sed 's/{"runs": \[/\n&/g' out | sed -n 's/.*"val_loss": {"runs": 3, "mean": \([^,]*\),.*/\1/p' >means
sort -g means >sorted
tap_is "$(wc -l <means | tr -d ' ')" 2 "of both"
tap_same means sorted "the best first"
tap_exit 0 "one metric" "$QCNN" runs --dir=many summary -m sign_accuracy
tap_is "$(sed -n '1s/  */ /gp' out)" "runs sign_accuracy val_sign_accuracy train.optimizer.adam.learning_rate" "no other"
tap_exit 0 "one run" "$QCNN" runs summary one
tap_is "$(grep -c ± out)" 0 "has no deviation"
# Mean curves, with their band; matrices of classes.
tap_exit 0 "summary as SVG" "$QCNN" runs --dir=many summary --svg=mean.svg
tap_is "$(grep -c '<path class="p-line' mean.svg) $(grep -c 'fill-opacity=".15"' mean.svg)" "4 4" "curves of training and validation of both, each with a band"
tap_has mean.svg ">learning_rate=0.05, 3 runs<" "each has its name"
"$QCNN" runs --dir=many summary -m sign_accuracy --svg=mean.svg
grep -h '"epoch": 2,' $(grep -l 'learning_rate=0.05' many/*/run.json | sed 's/run.json/metrics.jsonl/') | sed 's/.*"sign_accuracy": \([^,]*\), "val_loss.*/\1/' |
	awk '{ s += $1; t += $1 * $1 } END { m = s / NR; printf "learning_rate=0.05, 3 runs %.5g ± %.2g, dashed\n", m, sqrt((t - NR * m * m) / (NR - 1)) }' >want
grep '<title>epoch 2&#10;' mean.svg | sed 's/&#10;/\n/g' | grep -o '^learning_rate=0.05, .* dashed' >got
tap_same got want "mean and deviation of an epoch in a tooltip"
tap_exit 0 "another metric, of one configuration" "$QCNN" runs summary --metric=sign_accuracy --svg=- one
tap_has out "sign_accuracy: training, and dashed validation; mean and deviation of 1 run<" "is drawn"
# Final values over a key, of which the fourth is a configuration of one run with another batch size.
for rate in 0.05 0.1 1e-9; do
	"$QCNN" train -q --set log.dir=many --set run.seed=1 --set train.batch_size=4 --set train.optimizer.adam.learning_rate=$rate config.yaml
done
key=train.optimizer.adam.learning_rate
tap_exit 0 "over the learning rate" "$QCNN" runs --dir=many summary -m val_sign_accuracy --over=$key --svg=over.svg
tap_is "$(grep -c '<path class="p-line' over.svg)" 2 "a curve for each batch size"
tap_has over.svg ">batch_size=4<" "has its name"
tap_is "$(grep -o "<title>$key [0-9.e-]*" over.svg | sed 's/.* //' | tr '\n' ' ')" "1e-09 0.05 0.1 " "the values in their order"
"$QCNN" runs --dir=many summary --json -m val_sign_accuracy >out
sed 's/{"runs": \[/\n&/g' out | grep '"learning_rate": 0.05' | grep '"batch_size": 8' |
	sed 's/.*"mean": \([^,]*\), "deviation": \([^,]*\),.*/\1 \2/' | awk '{ printf "batch_size=8 %.5g ± %.2g\n", $1, $2 }' >want
grep "<title>$key 0.05&#10;" over.svg | sed 's/&#10;/\n/g; s/<\/title>/\n/' | grep '^batch_size=8 ' >got
tap_same got want "with mean and deviation"
tap_has over.svg ">val_sign_accuracy; mean and deviation<" "the title"
tap_exit 2 "over what is equal" "$QCNN" runs --dir=many summary --over=train.epochs --svg=-
tap_has err 'the configurations do not differ in `train.epochs`; they differ in ' "says so"
tap_exit 2 "over without a figure" "$QCNN" runs --dir=many summary --over=$key
tap_has err '--over needs summary --svg' "says so"
tap_exit 2 "one that no run has" "$QCNN" runs --dir=many summary --metric=confusion --svg=-
tap_has err 'none of the runs has `confusion`' "it says so"
for seed in 1 2 3; do
	"$QCNN" train -q --set log.dir=matrices --set run.seed=$seed --set "train.metrics=[sign_accuracy, confusion]" --set train.restarts=2 \
		--set data.label_map=null config.yaml 2>/dev/null
done
tap_exit 0 "confusion matrices" "$QCNN" runs --dir=matrices summary
tap_has out "confusion, validation, sum of 3 runs; rows: labels, columns: predictions" "follow the table"
sed 's/.*"val_confusion": \[\[\([0-9.]*\), \([0-9.]*\)\], \[\([0-9.]*\), \([0-9.]*\)\]\].*/\1 \2 \3 \4/' matrices/*-*/run.json |
	awk '{ for (i = 1; i <= 4; i++) s[i] += $i } END { printf "-1 1\n-1 %d %d\n1 %d %d\n", s[1], s[2], s[3], s[4] }' >want
tail -3 out | sed 's/^ *//; s/  */ /g' >got
tap_same got want "as sums"
tap_exit 0 "all parts" "$QCNN" runs --dir=matrices summary -m confusion
tap_is "$(sed -n 's/^confusion, \([a-z]*\),.*/\1/p' out | tr '\n' ' ')" "validation training " "with the metric's name"
tap_exit 0 "as JSON" "$QCNN" runs --dir=matrices summary --json
tap_has out '"confusion": {"confusion": [[' "sums too"
tap_exit 0 "as SVG" "$QCNN" runs --dir=matrices summary -m confusion --svg=-
tap_has out "<title>Confusion matrix, validation, sum of 3 runs</title>" "the validation's"
mkdir forged
for cell in 1e300 -5.0 0.5 '"a"' null; do
	rm -rf forged/one
	cp -R "$(tap_run matrices)" forged/one
	sed -i 's/"val_confusion": \[\[[0-9.]*/"val_confusion": [['"$cell/" forged/one/run.json
	tap_exit 0 "a cell that is $cell" "$QCNN" runs --dir=forged summary -m confusion
	tap_is "$(sed -n 's/^confusion, \([a-z]*\),.*/\1/p' out | tr '\n' ' ')" "training " "is no count of samples"
done
"$QCNN" train -q --set log.dir=matrices --resume="$(ls matrices | grep -v latest | head -1)" --set train.epochs=5 2>/dev/null
extended=$(grep -l '"epochs": 5' matrices/*-*/run.json | sed 's|/run.json||')
tap_exit 0 "restarts that were extended" "$QCNN" runs compare --svg=c.svg "$extended" one
grep '<path class="p-line p-c0"' c.svg | grep -o '[ML][0-9.]* ' | tr -d 'ML ' >places
tap_is "$(wc -l <places | tr -d ' ')" 5 "the curve has the epochs of one of them"
tap_ok "in order" sort -c -g places
# A run that is renamed: latest, whose links lead nowhere then, is the newest run that has finished.
"$QCNN" train -q --set log.dir=renamed --set run.seed=1 config.yaml 2>/dev/null
sed -i 's/"written": "20/"written": "19/' "$(tap_run renamed)/run.json"
"$QCNN" train -q --set log.dir=renamed --set run.seed=2 config.yaml 2>/dev/null
mv "$(tap_run renamed)" renamed/best
tap_exit 0 "latest, after its run was renamed" "$QCNN" runs --dir=renamed show latest
tap_is "$(sed -n '1s/run *//p' out)" renamed/best "is found"
tap_exit 0 "by its path" "$QCNN" infer -q renamed/latest
tap_exit 0 "and extended" "$QCNN" train -q --resume=renamed/latest --set train.epochs=4
tap_is "$(tap_run renamed)" renamed/best "then latest leads to it"
mkdir empty && mv renamed/best empty && mv renamed/latest empty && mv empty/best empty/latest.old && rm -r empty/latest.old
tap_exit 66 "latest, without any run" "$QCNN" infer --set log.dir=empty empty/latest
tap_exit 66 "by its name" sh -c 'mv runs runs.off && mv empty runs; "$QCNN" infer latest; code=$?; mv runs empty && mv runs.off runs; exit $code'
tap_is "$(grep -c 'did you mean' err)" 0 "itself is not suggested"

# More runs than a line of 64 words.
one=$(ls -d runs/one-* | head -1)
for k in $(seq 80); do mkdir -p "lots/run-$k" && cp "$one/run.json" "$one/config.yaml" "$one/model.qcnn" "lots/run-$k"; done
tap_exit 0 "summary of 80 runs" "$QCNN" runs summary lots/run-*
tap_is "$(sed -n '2s/ .*//p' out)" 1 "which are the same training"
tap_exit 2 "one of them again" "$QCNN" runs remove lots/run-* lots/run-7
tap_has err "the run lots/run-7 is named twice" "is named"
tap_exit 0 "80 runs are removed" "$QCNN" runs remove lots/run-*
tap_is "$(ls lots | wc -l | tr -d ' ')" 0 "all of them"
for split in '{folds: 2}' '{folds: 2, fold: 1}' '{folds: 2, fold: 2}'; do
	"$QCNN" train -q --set log.dir=folds --set "data.split=$split" config.yaml 2>/dev/null
done
tap_exit 0 "folds" "$QCNN" runs --dir=folds summary
tap_is "$(sed -n '2s/ .*//p' out)" 2 "fold 1 is the default, and counts once"
tap_exit 2 "a metric that no run has" "$QCNN" runs --dir=many summary -m wit
tap_has err 'none of the runs has `wit`' "it says so"
tap_exit 2 "sort by it" "$QCNN" runs --dir=many summary --sort=wit
tap_exit 0 "no runs" "$QCNN" runs --dir=nowhere summary
tap_has err "no run has finished" "it says so"

# TensorBoard follows links between folders: event files may have one path only.
tap_is "$(find -L runs -name '*tfevents*' | wc -l | tr -d ' ')" "$(find runs -name '*tfevents*' | wc -l | tr -d ' ')" "event files are found once"
tap_is "$(cd runs/latest && ls | tr '\n' ' ')" "config.yaml history.csv metrics.jsonl model.qcnn report.html run.json state.bin weights.bin " "latest has the other files"
tap_exit 0 "infer runs/latest" "$QCNN" infer -q runs/latest
newest=$(basename "$(tap_run runs)")
tap_exit 0 "remove" "$QCNN" runs remove latest
tap_is "$(cat err)" "qcnn runs: removed runs/$newest" "says which run it was"
tap_ok "it is gone" sh -c "! test -e 'runs/$newest'"
tap_is "$(test -d "$(tap_run runs)" && ls -d runs/*/ | grep -c -e '/one' -e '/two')" 2 "the others are there, and latest is one of them"
sed -i.bak 's/"finished"/"running"/' runs/one-*/run.json
tap_exit 0 "a run that nobody goes on with" "$QCNN" runs
tap_ok "is called cut off" grep -q '^one-[-0-9]*  *cut off ' out
# One that goes on for longer than this test looks at it.
begin() {
	"$QCNN" train -q --set log.name=long --set train.epochs=1000000 --set log.tensorboard=false config.yaml 2>/dev/null &
	long=$!
	tries=0
	while ! ls runs/long-*/metrics.jsonl >/dev/null 2>&1 && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
}
begin
tap_exit 0 "a run that goes on" "$QCNN" runs
tap_ok "is running" grep -q '^long-[-0-9]*  *running ' out
tap_exit 2 "remove a run that goes on" "$QCNN" runs remove "$two" long
tap_has err "has not ended; --force removes it all the same" "says what to do"
tap_is "$(ls -d runs/long-* runs/two-* | wc -l | tr -d ' ')" 2 "nothing is removed"
kill -9 $long
wait $long 2>/dev/null
tap_exit 0 "it is killed" "$QCNN" runs
tap_ok "and cut off" grep -q '^long-[-0-9]*  *cut off ' out
tap_exit 0 "show" "$QCNN" runs show long
tap_ok "says so, too" grep -q "^state  *cut off" out
tap_exit 0 "show, as JSON" "$QCNN" runs show --json long
tap_ok "with a key of its own" grep -q '"state": "running".*"cut_off": true' out
tap_exit 66 "infer on it" "$QCNN" infer "$(ls -d runs/long-*)"
tap_ok "names the state and what to do" grep -Eq 'error: the run runs/long-[-0-9]* \(cut off after epoch [0-9]*\) has no weights\.bin, since its training did not finish; `qcnn train --resume=runs/long-[-0-9]*` continues it' err
tap_exit 66 "weights show on it" "$QCNN" weights show "$(ls -d runs/long-*)"
tap_has err "has no weights.bin" "likewise"
"$QCNN" train -q --fresh --set log.name=halted --set log.checkpoint_steps=1 --set "train.callbacks={command: {run: [sh, -c, 'test \$QCNN_EPOCH = 2 && kill -s TERM \$PPID'], on: epoch}}" --set train.epochs=9 config.yaml 2>/dev/null
tap_exit 66 "infer on an interrupted run" "$QCNN" infer "$(ls -d runs/halted-*)"
tap_ok "names its newest checkpoint" grep -Eq '\(interrupted after epoch 2\) .*; the weights of its last checkpoint are in runs/halted-[-0-9]*/checkpoint/[01]\.bin$' err
tap_exit 0 "which infer reads" "$QCNN" infer "$(sed 's/.*checkpoint are in //' err)"
"$QCNN" runs remove halted 2>/dev/null
tap_exit 0 "what is cut off can be removed" "$QCNN" runs remove long
begin
kill -STOP $long             # else it writes while its files go
tap_exit 0 "a run that goes on, with --force" "$QCNN" runs remove --force long
kill -9 $long
wait $long 2>/dev/null
rm -rf runs/long-*
tap_exit 0 "a name that is longer in bytes than in letters" "$QCNN" train -q --set log.name=étéété "$PWD/config.yaml"
"$QCNN" runs >out
tap_is "$(sed 's/é/e/g' out | awk '{ print index($0, $2) }' | sort -u | wc -l | tr -d ' ')" 1 "leaves the columns straight"
"$QCNN" runs remove étéété >/dev/null
ln -s "$PWD/config.yaml" "$(ls -d runs/one-*)/link"
tap_exit 0 "one with a link in it" "$QCNN" runs remove one
tap_ok "a link's target stays" test -s config.yaml
tap_exit 0 "the last one" "$QCNN" runs remove "$two"
tap_ok "latest is gone with it" sh -c '! test -e runs/latest'

# Records written by hand: names, times and metrics that no training here would give.
record() {
	mkdir -p "$1"
	printf '{"schema":1,"state":"finished","written":"%s","metrics":{%s},"seconds":1}\n' "$2" "$3" >"$1/run.json"
}
record a/run-1 2026-01-01T00:00:01Z '"loss":0.5,"gap":null'
record a/run-3 2026-01-01T00:00:03Z '"loss":0.25,"val_accuracy":0.75,"gap":0.5'
record a/run-2 2026-01-01T00:00:02Z '"loss":0.75'
record b/run-1 2026-01-02T00:00:01Z '"loss":0.125'
record b/run-2 2026-01-02T00:00:02Z '"loss":0.125'
tap_exit 2 "a beginning of three names" "$QCNN" runs --dir=a show run
tap_has err "3 runs in a begin with \`run\`; the newest is run-3" "the newest of them is named"
printf '{"start":1,"epoch":%s,"step":%s,"loss":%s,"val_loss":%s,"seconds":1}\n' 1 4 0.5 0.4 2 8 0.3 0.2 3 12 0.25 0.3 >a/run-2/metrics.jsonl
printf '{"schema":1,"state":"interrupted","written":"2026-01-01T00:00:02Z","seconds":1}\n' >a/run-2/run.json
tap_exit 0 "an interrupted run" "$QCNN" runs --dir=a
tap_is "$(grep '^run-2' out | tr -s ' ')" "run-2 interrupted 2026-01-01 00:00 3 2 0.25 0.3 1" "has its last epoch, the best one, and the losses"
tap_exit 0 "show it" "$QCNN" runs --dir=a show run-2
tap_is "$(grep -e best -e epochs out | tr -s ' ' | tr '\n' ' ')" "metrics.epochs 3 metrics.best_epoch 2 metrics.best_val_loss 0.2 " "the same"
tap_exit 0 "compare it with a finished one" "$QCNN" runs --dir=a compare run-2 run-3
tap_is "$(grep -e '^loss' -e '^epochs' -e '^\*' out | tr -s ' ' | sed 's/ *$//' | tr '\n' ,)" "loss 0.25 0.25,epochs 3," "equal values and counts are not marked"
tap_exit 0 "compare different losses and accuracies" "$QCNN" runs --dir=a compare run-1 run-3
tap_is "$(grep '^loss' out | tr -s ' ')" "loss 0.5 0.25 *" "the lower loss is marked"
tap_exit 0 "in JSON" "$QCNN" runs --json --dir=a compare run-1 run-3
tap_has out '"best": {"loss": ["a/run-3"]' "it is named"
record c/run-1 2026-01-01T00:00:01Z '"auc":0.5,"mae":0.5,"val_f1":0.25,"best_loss":1'
record c/run-2 2026-01-01T00:00:02Z '"auc":0.75,"mae":0.25,"val_f1":0.5,"best_loss":2'
tap_exit 0 "compare other metrics" "$QCNN" runs --dir=c compare run-1 run-2
tap_is "$(sed '1d;/^seconds/,$d' out | tr -s ' ' | tr '\n' ,)" "auc 0.5 0.75 *,mae 0.5 0.25 *,val_f1 0.25 0.5 *,best_loss 1 * 2," "each in its direction"
tap_exit 0 "compare where the second run alone has a metric" "$QCNN" runs --dir=a compare run-1 run-3
tap_is "$(grep '^val_accuracy' out | tr -s ' ')" "val_accuracy 0.75" "it has a row"
tap_is "$(grep '^gap' out | tr -s ' ')" "gap 0.5" "so has one that is null in the first run"
tap_exit 0 "compare runs of one name in two folders" "$QCNN" runs compare a/run-1 b/run-1
tap_is "$(sed -n 1p out | tr -s ' ')" " a/run-1 b/run-1" "their paths tell them apart"
tap_exit 2 "compare a run with itself by another path" "$QCNN" runs compare a/run-1 b/../a/run-1
tap_has err "the run b/../a/run-1 is named twice" "it says so"

# ---- other commands take runs by name ----

rm -rf runs
for name in two two one; do "$QCNN" train -q --fresh --set log.name=$name config.yaml 2>/dev/null; done
mkdir runs/cut-1 runs/other
printf '{"schema":1,"state":"interrupted"}\n' >runs/cut-1/run.json
full=$(ls -d runs/one-*)
"$QCNN" infer "$full/weights.bin" >wanted
for name in latest one "${full#runs/}" "$full" "$full/"; do
	tap_exit 0 "infer $name" "$QCNN" infer "$name"
	tap_same out wanted "as with the path of its weights"
done
"$QCNN" weights show "$full/weights.bin" >wanted
tap_exit 0 "weights show by name" "$QCNN" weights show one
tap_same out wanted "the same weights"
tap_exit 0 "weights diff by name" "$QCNN" weights diff one latest
tap_exit 0 "weights convert by name" "$QCNN" weights convert latest copy.bin
tap_same copy.bin "$full/weights.bin" "the same file"
"$QCNN" draw cluster.qcnn >wanted
tap_exit 0 "draw a run" "$QCNN" draw latest
tap_same out wanted "its model"
tap_exit 0 "check a run" "$QCNN" check one
printf '0.1,0.2,0.3,0.4\n' >four.csv
"$QCNN" run --data four.csv --weights "$full/weights.bin" cluster.qcnn >wanted
tap_exit 0 "run: weights by name" "$QCNN" run --data four.csv --weights one cluster.qcnn
tap_same out wanted "the same outputs"
tap_exit 0 "run a run" "$QCNN" run --data four.csv one
tap_same out wanted "with its weights"
"$QCNN" compile cluster.qcnn >wanted
tap_exit 0 "compile a run" "$QCNN" compile latest
tap_same out wanted "its program"
tap_exit 0 "gate by gate" "$QCNN" compile -e circuit latest
"$QCNN" weights convert latest latest.json
angle=$(sed -n 's/.*"last[^:]*: *\[.*, *\([^]]*\)\].*/\1/p' latest.json)
tap_has out "rz(${angle:-no angle}) q[3]" "with its weights"
tap_exit 0 "start from a run" "$QCNN" train -q --dry-run --set train.init.from=one config.yaml
tap_exit 0 "with two restarts" "$QCNN" train --dry-run --set train.init.from=one --set train.restarts=2 config.yaml
tap_has err "train.init.from gives the weights with which restart 1 of 2 begins; the others begin with random weights" "it says which of them"

# latest leads to another run soon: what is recorded does not.
from() {   # NAME VALUE WORD...: trains with train.init.from=VALUE; the same command later, by its record, gives the same bits
	name=$1 want=$2
	shift 2
	tap_exit 0 "start from $name" "$QCNN" train -q --fresh --set log.dir=from --set log.name=run "$@" config.yaml
	tap_is "$(sed -n 's/^ *init: {from: \(.*\)}.*/\1/p' from/latest/config.yaml)" "$want" "the configuration names the run"
	tap_has from/latest/run.json "train.init.from=$want" "so does the command"
	tap_has from/latest/report.html "train.init.from=$want" "that the report shows"
	cp from/latest/weights.bin first.bin
	sed -n 's/.*"command": \[\([^]]*\)\].*/\1/p' from/latest/run.json | sed 's/", "/"\n"/g' | sed "s/'/'\\\\''/g;s/^\"\(.*\)\"$/'\1'/" | tr '\n' ' ' >again
	tap_exit 0 "once more" sh ./again
	tap_same from/latest/weights.bin first.bin "the same bits"
}
for n in 1 2; do "$QCNN" train -q --fresh --set log.dir=from --set log.name=run --set run.seed=$n config.yaml 2>/dev/null; done
last() { basename "$(tap_run from)"; }
run=$(last)
from latest "$run" --set train.init.from=latest
run=$(last)
from "the last of two" "$run" --set train.init.from=latest --set train.init.from=latest
run=$(last)
from "another word, in front of --" "$run" --set 'train.init={from: latest}' --
run=$(last)
from "the path of latest" "from/$run/weights.bin" '--set=train.init={from: from/latest/weights.bin}'
"$QCNN" train -q --fresh --set log.dir=from --set log.name=other config.yaml 2>/dev/null
from "the beginning of a name" "$(last)" --set=train.init.from=oth

tap_exit 66 "infer on a run that was cut off" "$QCNN" infer cut
tap_has err "the run runs/cut-1 (interrupted) has no weights.bin, since its training did not finish" "it says why"
tap_exit 66 "a name that is near" "$QCNN" infer latst
tap_has err 'there is no file `latst` and no run of this name in runs; did you mean `latest`?' "is suggested"
tap_exit 2 "the beginning of two names" "$QCNN" draw two
tap_has err '2 runs in runs begin with `two`' "it says so"
tap_exit 66 "a folder that is no run" "$QCNN" infer runs/other
tap_has err 'not that of a run (it has no run.json)' "it says so"
tap_exit 78 "constants of a run" "$QCNN" draw --const n=8 latest

printf 'a,b,label\n0.1,0.2,0.25\n0.3,0.4,0.5\n' >samples.csv
for map in '{0.25: -1, 0.5: 1}' '{0.25: 1, 0.5: -1}'; do
	"$QCNN" train -q --set log.dir=maps --set data.split=null --set "data.label_map=$map" table.yaml 2>/dev/null
done
tap_exit 0 "compare keys that contain dots" "$QCNN" runs compare maps/*-*
tap_is "$(grep '^data.label_map' out | tr -s ' ')" "data.label_map.0.25 -1 1
data.label_map.0.5 1 -1" "their values are found"
ln -s run-2 b/latest
ln -s run-3 a/latest
tap_exit 0 "remove a run of another folder" "$QCNN" runs --dir=a remove b/run-2
tap_is "$(readlink a/latest) $(tap_run b)" "run-3 b/run-1" "latest of that folder is updated, also where an earlier version made it"
tap_exit 66 "remove what is no run" "$QCNN" runs remove runs/other
tap_ok "it is still there" test -d runs/other
tap_done
