# SPDX-License-Identifier: Apache-2.0
# qcnn init: the starter trains at once and learns; qcnn completions: what the shells make of it.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

tap_exit 0 "init" "$QCNN" init mine
tap_has err "now: qcnn train mine/config.yaml" "what to do next"
tap_exit 0 "the model has no fault" "$QCNN" check mine/model.qcnn
tap_is "$(cat err)" "" "and no warning"
tap_exit 0 "nor for eight qubits" "$QCNN" check --const n=8 mine/model.qcnn
tap_exit 0 "it can be drawn" "$QCNN" draw mine/model.qcnn
tap_exit 0 "it trains" "$QCNN" train -q mine/config.yaml
tap_ok "its runs have the name of the folder" sh -c 'test -d runs/mine-*'
loss=$(sed 's/.*"metrics": {[^}]*"val_sign_accuracy": \([0-9.]*\).*/\1/' runs/latest/run.json)
awk -v a="$loss" 'BEGIN { exit !(a >= 0.85) }'
tap_result $? "it learns: accuracy $loss of validation"
tap_exit 0 "its weights are used" "$QCNN" infer runs/latest/weights.bin

# What the configuration says of one's own data.
sed -e '/generate:/d' -e '/rounds:/d' -e 's/# train:/train:/' -e 's/# label/label/' mine/config.yaml >mine/own.yaml
awk 'BEGIN { print "a,b,c,d,kind"; for (i = 0; i < 20; i++) print i % 3, i % 5, i % 7, i % 2, i % 2 ? "normal" : "excited" }' | tr ' ' , >mine/samples.csv
tap_exit 0 "its comments on one's own data" "$QCNN" train -q --set log.dir=own mine/own.yaml
tap_has own/latest/report.html ">label excited<" "make it train on them"
sed -i 's/# transform/transform/' mine/own.yaml
tap_exit 0 "with the inputs scaled" "$QCNN" train -q --set log.dir=scaled mine/own.yaml
tap_ok "from 0 to pi" grep -q 'min_max' scaled/latest/config.yaml
tap_exit 73 "where no folder can be made" "$QCNN" train -q --set log.dir=mine/model.qcnn mine/config.yaml
tap_has err "; --set log.dir=FOLDER names another place" "the message says how to name another place"

tap_exit 73 "init once more" "$QCNN" init mine
tap_has err "mine/model.qcnn already exists" "it says so"
rm mine/model.qcnn
echo mine >mine/config.yaml
tap_exit 73 "with one of the files" "$QCNN" init mine
tap_ok "nothing is written" sh -c '! test -e mine/model.qcnn && test "$(cat mine/config.yaml)" = mine'
tap_exit 0 "with --force" "$QCNN" init --force mine
tap_ok "it is replaced" grep -q learning_rate mine/config.yaml
(mkdir here && cd here && "$QCNN" init -q) && test -s here/model.qcnn
tap_result $? "init in the current folder"
for name in 'two words: #1' 1e3 null été; do
	tap_exit 0 "init in a folder called $name" "$QCNN" init -q "$name"
	tap_is "$("$QCNN" config --json "$name/config.yaml" | sed 's/.*"log": {[^}]*"name": "\([^"]*\)".*/\1/')" "$name" "its name is kept"
done
tap_is "$("$QCNN" config --json here/config.yaml | sed 's/.*"log": {[^}]*"name": "\([^"]*\)".*/\1/')" here "init in the current folder: its name"
tap_exit 73 "where no folder can be made" "$QCNN" init no/such/folder

tap_exit 2 "an unknown shell" "$QCNN" completions tcsh
for s in bash zsh fish; do
	tap_exit 0 "completions $s" "$QCNN" completions $s
	cp out "complete.$s"
	for c in train runs completions; do
		tap_has "complete.$s" "$c" "it has $c"
	done
	if command -v $s >/dev/null; then
		tap_ok "$s reads it" $s -n "complete.$s"
	else
		tap_skip "$s is not installed"
	fi
done
tap_has complete.fish "complete -c qcnn -n '__fish_use_subcommand' -l version " "fish completes options before any command"
if command -v bash >/dev/null; then
	cat >ask.sh <<-'END'
	. ./complete.bash
	compopt() { :; }
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_qcnn
	echo "${COMPREPLY[@]}"
	END
	tap_is "$(bash ask.sh qcnn tr)" train "bash completes a command"
	tap_is "$(bash ask.sh qcnn train --no-p)" "--no-progress" "an option"
	tap_is "$(bash ask.sh qcnn run --prec)" "--precision=" "one with a value"
	tap_is "$(bash ask.sh qcnn run --precision = do)" "double" "its word"
	tap_is "$(bash ask.sh qcnn run --precision =)" "single double" "its words"
	tap_is "$(bash ask.sh qcnn train mine/conf)" "mine/config.yaml" "a file"
	tap_is "$(bash ask.sh qcnn help inf)" "infer info" "help for a command"
	tap_is "$(bash ask.sh qcnn --color a)" "auto always" "a word behind a blank"
	tap_is "$(bash ask.sh qcnn train --dry-run mine/conf)" "mine/config.yaml" "a file behind an option without a value"
	tap_is "$(bash ask.sh qcnn train --set train.ep)" "train.epochs=" "a key of the configuration"
	tap_is "$(bash ask.sh qcnn train --set = run.se)" "run.seed=" "behind = too"
	tap_is "$(bash ask.sh qcnn train --set train.optimizer.adam.l)" "train.optimizer.adam.learning_rate=" "an option of what a key chooses"
	tap_is "$(bash ask.sh qcnn train --set train.loss = h)" "huber hinge" "a value of a key"
	tap_is "$(bash ask.sh qcnn train --set log.report =)" "true false" "one that is true or false"
	tap_is "$(bash ask.sh qcnn train --encrypt =)" "on off" "an optional value"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn explain Q010)" "Q0101 Q0102 Q0103 Q0104 Q0105 Q0107 Q0108 Q0109" "a code"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn infer lat)" "latest" "a run to evaluate"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn draw m)" "$(ls runs | grep mine) mine" "runs and files"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn train --resume = lat)" "latest" "a run to resume"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn weights show lat)" "latest" "one whose weights are shown"
	tap_is "$(bash ask.sh qcnn weights '')" "show convert diff" "what a command does"
	tap_is "$(PATH=$(dirname "$QCNN"):$PATH bash ask.sh qcnn runs show m)" "$(ls runs | grep mine)" "a run"
else
	tap_skip "bash is not installed"
fi
if ! command -v zsh >/dev/null; then
	tap_skip "zsh is not installed"
elif ! zsh -f -c 'zmodload zsh/zpty && zpty shell true' >/dev/null 2>&1; then
	tap_skip "zsh finds no pseudo-terminals"
else
	# ask LINE: what zsh completes at its end, in a terminal of its own; compadd is what takes the words.
	cat >ask.zsh <<-'END'
	zmodload zsh/zpty && zpty shell zsh -f || exit 1
	zpty -w shell 'PROMPT= RPROMPT=; autoload -Uz compinit && compinit -u -D && source ./complete.zsh'
	zpty -w shell 'compadd() { local -a hits; [[ ${argv[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || { builtin compadd -A hits "$@"; print -rl -- "HIT:"$^hits }; builtin compadd "$@"; }'
	zpty -w shell 'asked() { BUFFER=; print DONE }; zle -N asked; bindkey "^X" asked; bindkey "^I" complete-word; stty -echo; print READ""Y'
	zpty -r shell out '*READY*'
	zpty -w -n shell "$1"$'\t\C-X'
	zpty -r shell out '*DONE*'
	print -r -- ${(uo)${(M)${(f)${out//$'\r'}}:#*HIT:?*}#*HIT:}
	END
	ask() { PATH=$(dirname "$QCNN"):$PATH TERM=vt100 timeout 60 zsh -f ask.zsh "$1"; }
	tap_is "$(ask 'qcnn tr')" "train" "zsh completes a command"
	tap_is "$(ask 'qcnn help inf')" "infer info" "help for a command"
	tap_is "$(ask 'qcnn train --no-p')" "--no-progress" "an option"
	tap_is "$(ask 'qcnn train -q --qui')" "" "an option that was given by its letter is not offered again"
	tap_is "$(ask 'qcnn run --precision=')" "double single" "its words"
	tap_is "$(ask 'qcnn run --threads=')" "" "a number is no file"
	tap_is "$(ask 'qcnn train mine/conf')" "config.yaml" "a file"
	tap_is "$(ask 'qcnn train -s train.ep')" "train.epochs=" "a key of the configuration"
	tap_is "$(ask 'qcnn train --set train.optimizer.adam.l')" "train.optimizer.adam.learning_rate=" "an option of what it chooses"
	tap_is "$(ask 'qcnn train --set=log.report=')" "log.report=false log.report=true" "its values"
	tap_is "$(ask 'qcnn infer lat')" "latest" "a run"
	tap_is "$(ask 'qcnn explain Q0109')" "Q0109" "a code"
	tap_is "$(ask 'qcnn weights ')" "convert diff show" "what a command does"
	tap_is "$(HOME=$PWD zsh -f -c '. ./complete.zsh; print ${_comps[qcnn]}' 2>&1)" "_qcnn" "zsh without its completion system gets that, too"
	tap_has complete.zsh 'train.epochs=5]' "a description ends with its clause"
fi
if command -v fish >/dev/null; then
	ask() { HOME=$PWD PATH=$(dirname "$QCNN"):$PATH fish -N -c "source complete.fish; complete -C '$1'" | cut -f 1 | paste -s -d ' ' -; }
	tap_is "$(ask 'qcnn train --set train.ep')" "train.epochs=" "fish completes a key"
	tap_is "$(ask 'qcnn train --set train.optimizer.adam.l')" "train.optimizer.adam.learning_rate=" "an option of what it chooses"
	tap_is "$(ask 'qcnn train --set log.report=')" "log.report=false log.report=true" "its values"
	tap_is "$(ask 'qcnn infer lat')" "latest" "a run"
	tap_is "$(ask 'qcnn explain Q0109')" "Q0109" "a code"
else
	tap_skip "fish is not installed"
fi
tap_done
