# SPDX-License-Identifier: Apache-2.0
# --help, --version, unknown words; every row of the option table has help and manual text.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

commands=$(sed -n 's/^COMMAND([A-Z]*, \(.*\))$/\1/p' "$top_srcdir"/cli/commands.def | sort)
tap_is "$(echo $commands)" "bench check compile completions config draw explain infer info init profile run runs train weights worker" "the commands"

tap_exit 0 "--version" "$QCNN" --version
tap_is "$(grep -c '^qcnn [0-9]' out)" 1 "it prints name and version"
tap_exit 0 "--help" "$QCNN" --help
for c in $commands; do
	tap_has out "  $c " "--help lists $c"
done
tap_exit 0 "help train" "$QCNN" help train
cp out help
tap_exit 0 "train --help" "$QCNN" train --help
tap_same out help "both print the same"
tap_exit 0 "--help train" "$QCNN" --help train
tap_same out help "so does the option before the command"
tap_exit 0 "--help help" "$QCNN" --help help
tap_has out "  train " "lists commands"
tap_exit 2 "--help of no command" "$QCNN" --help trian
tap_has err 'unknown command `trian`: did you mean `train`?' "names one that there is"

# What a row says must be found behind --help and in the manual, for each command that takes the option.
for c in $commands; do
	"$QCNN" $c --help >"help-$c"
	sed 's/\\&//g' "$top_builddir/man/qcnn-$c.1" >"page-$c" 2>/dev/null ||
		sed 's/\\&//g' "$top_srcdir/man/qcnn-$c.1" >"page-$c"
	tap_has "help-$c" "Examples:" "$c --help shows examples"
	tap_has "help-$c" "qcnn-$c(1)" "$c --help names the manual page"
done
tap_is "$(sed -n '/^Usage:/!s/^\([A-Z][^.]*\):$/\1/p' help-train | tr '\n' ';')" \
	"Model and data;Runs;Computation;Output;Workers on several hosts;General;Examples;" "many options are in groups, those about hosts near the end"
tap_is "$(sed -n '/^\.Sh OPTIONS/,/^\.Sh RESUMING/s/^\.Ss //p' page-train | tr '\n' ';')" "Model and data;Runs;Computation;Output;Workers on several hosts;General;" \
	"in the manual, too"
tap_is "$(sed -n 's/^\([A-Z][a-z]*\):$/\1/p' help-explain | tr '\n' ';')" "Options;Examples;" "few options are one list"
tap_is "$(head -1 help-train)" "Usage: qcnn train [options] [CONFIG]" "usage comes first"
tap_is "$(grep -h '^ *\[.*--' help-*)" "" "a default does not run into the next option"
# One line a row: commands, name, letter.
sed 's/\t/ /g' "$top_srcdir/cli/options.def" | grep '^OPTION(' |
	sed 's/^OPTION([A-Z_]*, \([A-Z_| ]*\), "\([a-z-]*\)", .*/\1:\2/' >rows
tap_is "$(grep -c ':' rows)" "$(grep -c '^OPTION(' "$top_srcdir/cli/options.def")" "every row is understood"
missing=
while IFS=: read -r who name; do
	for c in $commands; do
		case " $who " in
		*" EVERY "* | *" $(echo $c | tr a-z A-Z) "* | *" $(echo $c | tr a-z A-Z)_CMD "*) ;;
		*) continue ;;
		esac
		grep -q -e "--$name\b" "help-$c" || missing="$missing help:$c:$name"
		grep -q -e "Fl Fl $name\b" "page-$c" || missing="$missing page:$c:$name"
	done
done <rows
tap_is "$missing" "" "every option is in --help and in the manual of its commands"
tap_is "$(grep -c '^	"..*[.]"' "$top_srcdir/cli/options.def")" "$(grep -c '^OPTION(' "$top_srcdir/cli/options.def")" \
	"every option has a text"

for file in help-train page-train; do
	tap_is "$(grep -c '|null' $file)" 0 "$file: a training takes no device that computes nothing"
done
tap_has help-bench "auto|cpu|cuda|cuda:N|ref|null [auto]" "bench does"

tap_exit 2 "no command" "$QCNN"
tap_exit 2 "an unknown command" "$QCNN" trian
tap_has err 'unknown command `trian`: did you mean `train`?' "a command is suggested"
tap_exit 2 "a command of other programs" "$QCNN" predict w.bin
tap_has err 'unknown command `predict`: here it is called `infer`' "has the name that it has here"
tap_exit 2 "help for one" "$QCNN" help evaluate
tap_has err 'here it is called `infer`' "too"
tap_exit 2 "a command of several here" "$QCNN" search config.yaml
tap_has err 'it is a loop over `qcnn train --set KEY=VALUE`; qcnn-runs(1) shows one' "says which"
tap_exit 2 "an unknown option" "$QCNN" train --ste=1 config.yaml
tap_has err 'unknown option `--ste`: did you mean `--set`?' "an option is suggested"
tap_has err 'Try `qcnn train --help`.' "and where to read more"
tap_exit 2 "an unknown letter" "$QCNN" train -qX config.yaml
tap_has err 'unknown option `-X`' "it is named"
tap_exit 2 "an option without its argument" "$QCNN" train --set
tap_has err '--set needs PATH=VALUE' "what is missing is named"
tap_exit 2 "an argument too many" "$QCNN" train --quiet=3 config.yaml
tap_has err '--quiet takes no argument' "it is named"
tap_exit 2 "no operand" "$QCNN" train
tap_has err 'missing CONFIG' "the operand is named"
tap_exit 2 "an operand too many" "$QCNN" config a.yaml b.yaml
tap_has err '`b.yaml`' "it is named"
tap_exit 2 "a wrong choice" "$QCNN" run --format=xml model.qcnn
tap_has err '--format takes json|npy|csv, not `xml`' "the choices are named"
for n in 0 1025 -1 x 1x 99999999999999999999; do
	tap_exit 2 "--threads=$n" "$QCNN" run --threads=$n model.qcnn
done
tap_exit 66 "-- ends the options" "$QCNN" config -- --help
tap_exit 0 "letters in one word" "$QCNN" explain -qv Q0505

tap_exit 2 "an unknown code" "$QCNN" explain Q9999
tap_exit 0 "explain lists" "$QCNN" explain
tap_is "$(grep -c '^Q[0-9]' out)" "$(grep -c '^DIAG(' "$top_srcdir/runtime/base/diag.def")" "all codes"
cut -c1-5 out >codes
missing=
while read -r code; do
	"$QCNN" explain "$code" >text || missing="$missing $code"
	[ "$(wc -l <text)" -ge 3 ] || missing="$missing $code"
	grep -q "^.It $code" "$top_builddir/man/qcnn.1" "$top_srcdir/man/qcnn.1" 2>/dev/null || missing="$missing page:$code"
done <codes
tap_is "$missing" "" "every code is explained, and listed in the manual"
tap_exit 0 "explain --json" "$QCNN" explain --json 0505
tap_has out '"code": "Q0505"' "as JSON"
tap_exit 0 "explain --json without a code" "$QCNN" explain --json
tap_is "$(grep -c '^{"schema": 1, "codes": \[{"code": "Q0001", .*}\]}$' out) $(grep -o '"code": "Q' out | wc -l)" \
	"1 $("$QCNN" explain | wc -l)" "lists all of them as JSON"

tap_exit 2 "a fault as JSON" "$QCNN" train --error-format=json --nonsense config.yaml
tap_has err '{"schema": 1, "severity": "error", "code": "USAGE", "status": 2, "message": "unknown option `--nonsense`"}' "one object"
tap_exit 66 "a missing file as JSON" "$QCNN" train --error-format=json nothing.yaml
tap_has err '"code": "NO_INPUT", "status": 66' "with its exit status"

printf 'x: 1\n' >bad.yaml
tap_exit 78 "colour when asked for" "$QCNN" config --color=always bad.yaml
tap_is "$(grep -c "$(printf '\033')" err | sed 's/^[1-9][0-9]*$/some/')" some "the message is coloured"
tap_exit 78 "no colour in a file" "$QCNN" config bad.yaml
tap_is "$(grep -c "$(printf '\033')" err)" 0 "the message is not coloured"
NO_COLOR=1 tap_exit 78 "NO_COLOR and --color=always" "$QCNN" config --color=always bad.yaml
tap_done
