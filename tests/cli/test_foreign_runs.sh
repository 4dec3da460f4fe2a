# SPDX-License-Identifier: Apache-2.0
# Runs that may be somebody else's: with symbolic links, of another user, open to others. Nothing outside of a run's
# folder is written, and such a run is continued where it is named, never by itself.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
umask 022
more="--no-progress --set=log.checkpoint_steps=1 --set=train.epochs=1000000 --set=log.dir=runs"

checkpoints() { ls runs/*/checkpoint/?.bin 2>/dev/null | wc -l; }
# stop N: ends the training $pid, which never ends, when it has continued a run, or when there are more than N checkpoints.
stop() {
	tap_until 'grep -q "resuming" err || [ "$(checkpoints)" -gt '"$1"' ] || ! kill -0 $pid' 60
	kill -s TERM $pid
	wait $pid
}
runs() { ls runs | grep -c cluster-; }
train() { : >err; before=$(checkpoints); "$QCNN" train $more "$@" config.yaml 2>err & pid=$!; stop "$before"; }
: >err
"$QCNN" train $more config.yaml 2>err & pid=$!
stop 1
mv runs kept
name=$(ls kept)
fresh_copy() { rm -rf runs; cp -a kept runs; }

fresh_copy
train
tap_has err "resuming runs/$name" "one's own run is continued by itself"

# As a repository might ship it: links to files of the user, who trains there.
echo precious >victim
mkdir outside
plant() {
	fresh_copy
	rm -rf "runs/$name/$1"
	ln -s "$2" "runs/$name/$1"
}
safe() {
	tap_is "$(cat victim) $(ls outside)" "precious " "$1: nothing outside is written"
	tap_has err "$1 is a symbolic link" "$1: the link is named"
	tap_is "$(runs)" 2 "$1: a new run begins"
}
for file in metrics.jsonl history.csv run.json checkpoint/lock checkpoint/0.bin; do
	plant $file "$PWD/victim"
	[ $file != run.json ] || { cp "kept/$name/run.json" victim; }
	train
	[ $file != run.json ] || { cmp -s victim "kept/$name/run.json"; tap_result $? "$file: as it was"; echo precious >victim; continue; }
	safe $file
done
for file in train checkpoint; do
	plant $file "$PWD/outside"
	[ $file != train ] || train
	[ $file != train ] || safe $file
	[ $file = checkpoint ] && want=73 || want=74
	tap_exit $want "$file, by name" "$QCNN" train $more --resume="$name" config.yaml
	tap_is "$(ls outside)" "" "$file, by name: nothing outside is written"
done
plant metrics.jsonl "$PWD/victim"
tap_exit 74 "a link, by name" "$QCNN" train $more --resume="$name" config.yaml
tap_has err "a symbolic link is in its path" "is not followed"
tap_is "$(cat victim)" precious "and nothing outside is written"
plant metrics.jsonl "$PWD/victim"
rm "runs/$name/metrics.jsonl"
ln victim "runs/$name/metrics.jsonl"
tap_exit 74 "a hard link, by name" "$QCNN" train $more --resume="$name" config.yaml
tap_has err "further hard links" "is not written through"
tap_is "$(cat victim)" precious "so that nothing outside changes"

# Others may write there.
fresh_copy
chmod o+w "runs/$name/checkpoint/0.bin"
train
tap_has err "others may write to checkpoint/0.bin" "a checkpoint that others may write to is not continued by itself"
tap_has err "(--resume=$name continues it)" "how it is all the same"
tap_is "$(runs)" 2 "a new run begins"
train --resume="$name"
tap_has err "warning: runs/$name: others may write to checkpoint/0.bin" "by name it is, with a warning"
tap_has err "resuming runs/$name" "and goes on"

# Another user's.
if [ "$(id -u)" -eq 0 ] && chown 65534 victim; then
	fresh_copy
	chown 65534 "runs/$name/config.yaml"
	train
	tap_has err "config.yaml belongs to " "a file of another user"
	fresh_copy
	chown -R 65534 "runs/$name"
	train
	tap_has err "the folder belongs to " "a run of another user is not continued by itself"
	tap_is "$(runs)" 2 "a new run begins"
	fresh_copy
	chmod 1777 runs
	chmod 711 .
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	if $as_nobody sh -c 'test -x "$QCNN" && test -r config.yaml' 2>/dev/null; then
		: >err
		$as_nobody "$QCNN" train $more config.yaml 2>err & pid=$!
		stop 2
		tap_has err "the folder belongs to root" "nor when root's run lies in a shared folder"
		tap_is "$(runs)" 2 "where another user's training begins a new one"
		tap_exit 73 "which that user cannot continue by name" $as_nobody "$QCNN" train $more --resume="$name" config.yaml
		tap_has err "begin a run of your own with --fresh" "and learns what to do"
		tap_ok "nor keep root from continuing by holding its lock" $as_nobody sh -c "test -e 'runs/$name/checkpoint/lock' && ! test -r 'runs/$name/checkpoint/lock'"

		# In a folder of a group with the sticky bit nobody can remove the link that root has put there.
		rm -rf runs
		mkdir runs precious
		echo data >precious/file
		chown -R 65534 precious
		chgrp 65534 runs
		chmod 3770 runs
		ln -s "$PWD/precious" runs/latest
		tap_exit 0 "a link of another user as latest" $as_nobody "$QCNN" train $more --set=train.epochs=1 config.yaml
		tap_is "$(cat precious/file)" data "what it leads to stays"
		tap_has err "runs/latest cannot be replaced" "a note says that latest is not the newest run"

		# Nor is one followed that another user has put into such a folder; a run may be named, and one's own latest.
		mine=$(ls runs | grep cluster-)
		mkdir theirs
		mv "runs/$mine" theirs/run
		cp theirs/run/weights.bin theirs/run/config.yaml theirs/run/model.qcnn .
		rm -rf runs/latest
		ln -s "$PWD/theirs/run" runs/latest
		chown 65533 runs
		chmod 1777 runs
		for kind in link folder run; do
			for word in latest runs/latest runs/latest/; do
				tap_exit 2 "latest, a $kind of another user, as $word" $as_nobody "$QCNN" weights show $word
				tap_has err "/latest" "is named"
				tap_has err "belongs to user 0, in a folder that others may write to" "and whose it is"
			done
			tap_exit 2 "as a run" $as_nobody "$QCNN" runs show latest
			rm -rf runs/latest
			case $kind in
			link) mkdir runs/latest && ln -s ../../theirs/run/weights.bin ../../theirs/run/run.json runs/latest ;;
			folder) cp -R theirs/run runs/latest ;;
			run) ln -s "$PWD/theirs/run" runs/latest ;;
			esac
		done
		chown -h 65534 runs/latest
		tap_exit 0 "one's own" $as_nobody "$QCNN" weights show latest
		chown -h 0 runs/latest
		chmod 755 runs
		tap_exit 0 "one in a folder that only its owner may write to" $as_nobody "$QCNN" weights show latest
	else
		tap_skip "another user cannot reach the files of this test"
	fi
else
	tap_skip "only root can give files to another user"
fi

# Commands that read.
fresh_copy
rm "runs/$name/run.json"
mkfifo "runs/$name/run.json"
tap_exit 0 "a pipe as run.json stops no list" timeout 20 "$QCNN" runs list --dir=runs
rm -rf elsewhere
cp -a kept elsewhere
fresh_copy
ln -s "$PWD/elsewhere/$name" runs/planted
tap_exit 2 "a link to a run elsewhere" "$QCNN" runs --dir=runs remove planted
tap_ok "is not removed through the link" test -e "elsewhere/$name/run.json"
ln -s "$name" runs/latest
ln -s "$PWD/outside" "runs/$name/linked"
: >outside/file
tap_exit 0 "a link to a run beside it" "$QCNN" runs --dir=runs remove latest
tap_ok "names that run" test ! -e "runs/$name"
tap_ok "and what a link in it leads to stays" test -e outside/file
tap_done
