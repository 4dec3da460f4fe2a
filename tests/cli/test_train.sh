# SPDX-License-Identifier: Apache-2.0
# Training and inference from the command line: the run's folder, equal bits, signals, moved and changed data.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

tap_exit 0 "train" "$QCNN" train -o first.bin config.yaml
tap_is "$(cat out)" "" "nothing on stdout"
tap_has err "epoch 2/2" "one line per epoch"
tap_has err "to evaluate them: qcnn infer first.bin" "what to do next"
tap_exit 2 "--live of a metric that is not computed" "$QCNN" train --live=auc config.yaml
tap_has err "--live=auc: the training does not compute it; available: loss, sign_accuracy" "names those that are"
for f in config.yaml model.qcnn weights.bin metrics.jsonl run.json; do
	tap_ok "runs/latest/$f" test -s runs/latest/$f
done
tap_same runs/latest/model.qcnn cluster.qcnn "the model is copied"
tap_same runs/latest/weights.bin first.bin "--output has the same weights"
tap_is "$(wc -l <runs/latest/metrics.jsonl)" 2 "a line of metrics per epoch"
tap_has runs/latest/run.json '"state": "finished"' "the run is recorded"
tap_has runs/latest/run.json "\"config_folder\": \"$PWD\"" "with the folder"
tap_exit 0 "an output whose name a shell would split" "$QCNN" train --fresh -o "it's \$HOME.bin" config.yaml
hint=$(sed -n 's/.*to evaluate them: qcnn //p' err)
tap_is "$hint" "infer 'it'\\''s \$HOME.bin'" "is quoted in the command that is proposed"
tap_exit 0 "which a shell runs as it is" sh -c '"$0" '"$hint" "$QCNN"
byte=$(printf 'folder\377')
mkdir "$byte" && cp config.yaml cluster.qcnn "$byte"
tap_exit 0 "a folder whose name is not UTF-8" "$QCNN" train --fresh --set "model.const={n: 6}" "$byte/config.yaml"
tap_has runs/latest/run.json "\"config_folder\": \"$PWD/folder\\ufffd\"" "is recorded, with U+FFFD for the byte"
tap_has runs/latest/run.json "\"folder\\ufffd/config.yaml\"" "so is the command"
tap_exit 0 "no progress" "$QCNN" train --no-progress config.yaml
tap_is "$(grep -c epoch err)" 0 "no line per epoch"
tap_exit 0 "quiet" "$QCNN" train -q -o second.bin config.yaml
tap_is "$(cat err)" "" "nothing on stderr"
tap_same second.bin first.bin "two runs, the same bytes"
for t in 1 2 3 4; do
	"$QCNN" train -q --set run.threads=$t --set log.dir=other -o threads.bin config.yaml
	tap_same threads.bin first.bin "$t threads, the same bytes"
done
"$QCNN" train -q --set run.seed=8 -o other.bin config.yaml
tap_ok "another seed, other bytes" sh -c '! cmp -s other.bin first.bin'
"$QCNN" config --json runs/latest/config.yaml >again.json
"$QCNN" config --json --set run.seed=8 config.yaml >now.json
tap_same again.json now.json "the resolved configuration says what was done"
for ending in npz json h5 hdf5 txt; do
	tap_exit 2 "--output in another format: .$ending" "$QCNN" train -q -o w.$ending config.yaml
done
tap_has err "let \`qcnn weights convert\` write" "says what writes it"
tap_is "$(ls w.* 2>/dev/null)" "" "before anything is written"
tap_exit 0 "--output=FILE.safetensors" "$QCNN" train -q -o w.safetensors config.yaml
tap_same w.safetensors first.bin "the same bytes"
tap_exit 0 "--output with a plain name" "$QCNN" train -q -o weights config.yaml
tap_exit 0 "several starts" "$QCNN" train --set train.restarts=3 -o starts.bin config.yaml
tap_has err "best of 3 restarts" "the best is named"
tap_exit 0 "several starts without progress" "$QCNN" train --no-progress --set train.restarts=3 -o starts.bin config.yaml
tap_has err "of 3 was the best" "the best is named, too"

# The manual has every member of a line.
page=$top_builddir/man/qcnn-train.1
[ -f "$page" ] || page=$top_srcdir/man/qcnn-train.1
sed -n '/^.It Pa metrics.jsonl/,/^.It Pa history.csv/p' "$page" | sed 's/\\&//g' >members
for key in $(head -n 1 runs/latest/metrics.jsonl | grep -o '"[a-z_]*":' | tr -d '":' | sed 's/sign_accuracy/METRIC/'); do
	tap_ok "$key is in the manual" grep -Fqx ".It Cm $key" members
done

# What infer prints is what training printed, to the last digit.
value() { sed -n "s/.*\"$1\": *\([^,}]*\).*/\1/p" | tail -n 1; }
trained=$(tail -n 1 runs/latest/metrics.jsonl)
"$QCNN" train -q -o first.bin config.yaml
trained=$(value val_loss <runs/latest/metrics.jsonl)
tap_exit 0 "infer" "$QCNN" infer first.bin
tap_is "$(sed -n 's/^loss	//p' out)" "$(printf %.6g "$trained")" "the validation loss, in 6 digits"
tap_is "$(sed -n 's/^sign_accuracy	//p' out)" "$(value val_sign_accuracy <runs/latest/metrics.jsonl)" "the metric, too"
tap_is "$(grep -c '^[0-9]' out)" 10 "a line per sample"
tap_exit 0 "infer --json" "$QCNN" infer --json first.bin
tap_is "$(value loss <out)" "$trained" "in JSON to the last digit"
tap_is "$(grep -c '^{"schema": 1, "outputs": \[\[.*\]\], "labels": \[\[.*\]\], "label_classes": \["-*1", .*\], "classes": \["-*1", .*\], "probabilities": null, "scores": \[.*\], "metrics": {"loss": .*, "sign_accuracy": .*}}$' out)" 1 "its form"
tap_exit 0 "the training part" "$QCNN" infer --split=train first.bin
tap_is "$(grep -c '^[0-9]' out)" 30 "its samples"
tap_exit 2 "a part that does not exist" "$QCNN" infer --split=test first.bin
tap_exit 2 "an unknown ending" "$QCNN" infer -o x.txt first.bin
for ending in csv jsonl npy; do
	tap_exit 0 "infer to .$ending" "$QCNN" infer -o "out.$ending" first.bin
	tap_is "$(sed -n 1p out | cut -f1)" loss "stdout has the numbers alone"
done
tap_is "$(wc -l <out.csv) $(wc -l <out.jsonl) $(head -n 1 out.csv)" "11 10 sample,output,class,score,label" "the rows"

# Data from files.
tap_exit 0 "train on a table" "$QCNN" train -q -o table.bin table.yaml
tap_exit 0 "infer its test part" "$QCNN" infer table.bin
tap_is "$(grep -c '^[0-9]' out)" 2 "two samples"
cp out expected
tap_exit 0 "new data" "$QCNN" infer --data new.csv table.bin
tap_is "$(grep -c '^[0-9]' out) $(grep -c loss out)" "2 0" "outputs alone, since there are no labels"
mkdir elsewhere
"$QCNN" infer runs/latest/weights.bin >by_file
tap_exit 0 "by the run's folder" "$QCNN" infer runs/latest
tap_same out by_file "the same"
tap_exit 66 "a folder that is no run's" "$QCNN" infer runs
tap_exit 0 "weights diff of run folders" "$QCNN" weights diff runs/latest runs/latest/
tap_exit 0 "from elsewhere, by run.json" sh -c "cd elsewhere && '$QCNN' infer ../runs/latest/weights.bin"
tap_same out expected "the same"
tap_exit 66 "from elsewhere, without it" sh -c "cd elsewhere && '$QCNN' infer ../table.bin"
tap_has err "samples.csv is not there" "the file is named"
tap_exit 0 "--data-dir" sh -c "cd elsewhere && '$QCNN' infer --data-dir .. ../table.bin"
tap_same out expected "the same"
echo '0,0,1' >>samples.csv
tap_exit 65 "changed data" "$QCNN" infer table.bin
tap_has err "samples.csv have changed since the training" "the file is named"
make_data

# Faults: the right exit status, the place, nothing written.
tap_exit 65 "a wrong width" "$QCNN" train -q --set data.inputs='{x: [a]}' table.yaml
tap_has err "two.qcnn:3:" "the model's place"
tap_exit 78 "an unknown input" "$QCNN" train -q --set data.inputs='{y: [a, b]}' table.yaml
tap_exit 65 "a label without a value" "$QCNN" train -q --set data.label_map='{0: 1}' table.yaml
tap_has err "samples.csv:2:9" "its place"
tap_exit 66 "no data file" "$QCNN" train -q --set data.train=nothing.csv table.yaml
tap_exit 66 "no model" "$QCNN" train -q --set model.file=nothing.qcnn config.yaml
tap_exit 65 "a faulty model" "$QCNN" train -q --const n=0 config.yaml
tap_exit 78 "no data" "$QCNN" train -q --set data.generate= config.yaml
tap_exit 78 "generated data for several inputs" "$QCNN" train -q --set model.file=bell.qcnn config.yaml
tap_exit 78 "a state that does not fit" "$QCNN" train -q --const n=50 --set run.method=statevector config.yaml
tap_has err "available" "needed and available memory"
tap_exit 1 "a training that explodes" "$QCNN" train -q --set data.label_map='{0: -1e200, 1: 1}' -o first.bin table.yaml
tap_has err "step 1" "the step is named"
tap_same first.bin second.bin "existing weights are untouched"
tap_exit 73 "an output that cannot be made" "$QCNN" train -q -o nowhere/w.bin config.yaml
: >file
tap_exit 73 "a folder that cannot be made" "$QCNN" train -q --set log.dir=file/x config.yaml

for s in INT TERM ABRT; do
	sh -c "exec '$QCNN' train --no-progress --set train.epochs=1000000 --set log.dir=stopped -o first.bin config.yaml" 2>err &
	pid=$!
	tap_until 'test -s stopped/cluster-*/metrics.jsonl'
	# A shell starts its background jobs with INT ignored; the program must not care.
	kill -s $s $pid
	wait $pid
	status=$?
	tap_same first.bin second.bin "existing weights are untouched"
	if [ $s = ABRT ]; then
		# What a failed assertion of ours does.
		tap_is $status 70 "a bug ends with 70"
		tap_has err "this is a bug in qcnn" "and says so"
		continue
	fi
	tap_is $status 75 "$s ends a run"
	tap_has err "stopped by $s after step " "and says where"
	tap_is "$(cd stopped/cluster-* && ls . checkpoint | grep -v '^events' | tr '\n' ' ')" \
		".: checkpoint config.yaml history.csv metrics.jsonl model.qcnn run.json train validation  checkpoint: 0.bin lock " "nothing half-written"
	tap_has "$(echo stopped/cluster-*/run.json)" '"state": "interrupted"' "the run is recorded"
	tap_ok "latest has no links to it" test ! -e stopped/latest
	rm -rf stopped
done

# ---- the test part ----

# tested NAME OPTION...: after a training with them the record has what infer prints.
tested() {
	name=$1
	shift
	tap_exit 0 "$name" "$QCNN" train --no-progress --fresh --set log.dir=tested \
		--set 'data.split={train: 0.5, validation: 0.25, test: 0.25}' --set 'train.metrics=[sign_accuracy, mae]' "$@" config.yaml
	"$QCNN" infer -q --json "$(tap_run tested)" | sed 's/.*"metrics": {\([^}]*\).*/\1/' | tr ',' '\n' | tr -d '" ' | sort >want
	sed 's/.*"metrics": {//' "$(tap_run tested)/run.json" | tr ',' '\n' | tr -d '" ' | sed -n 's/^test_//p' | sort >got
	tap_is "$(wc -l <got | tr -d ' ')" 3 "$name: a loss and two metrics of the test part"
	paste -d: got want | awk -F: '$1 != $3 || $2 + 0 != $4 + 0 { bad = 1 } END { exit bad }'
	tap_result $? "$name: as infer has them"
	tap_ok "$name: in the last lines" grep -q "; test: loss $(sed -n 's/^loss://p' want | awk '{ printf "%.6g", $1 }'), sign_accuracy" err
}
tested "a test part"
tested "one that workers evaluate" --hosts local:2
tested "one with restarts and without a report" --set train.restarts=3 --set log.report=false
tested "one with shots" --set run.shots=50 --set run.gradient=shift
tested "one in double precision" --set run.precision=double
tap_exit 0 "sort by a metric of it" "$QCNN" runs --dir=tested --sort=test_mae
tap_has out test_mae "it has a column"
tap_exit 0 "summarise it" "$QCNN" runs --dir=tested summary -m mae
tap_ok "with the others" grep -Eq '^runs +mae +val_mae +test_mae' out
tap_exit 0 "none" "$QCNN" train --no-progress --fresh --set log.dir=untested config.yaml
tap_is "$(grep -c test_ untested/latest/run.json; grep -c 'test: loss' err)" "$(printf '0\n0')" "nothing is said of it"
tap_done
