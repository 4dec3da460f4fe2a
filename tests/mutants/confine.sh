#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command where it can change no file outside DIR and reach no other process: a mutant may remove the wrong folder
# or send a signal to everything. Its processes end with it. Use: confine.sh DIR COMMAND...
# Exit status 125: this machine gives no such namespaces.
if [ "$1" != --inside ]; then
	user=
	[ "$(id -u)" = 0 ] || user=--map-root-user
	exec unshare $user --mount --pid --fork --kill-child --mount-proc sh "$0" --inside "$PWD" "$@"
fi
here=$2 dir=$3
shift 3
mount --bind "$dir" "$dir" || exit 125
mounts=$(awk '$4 !~ /(^|,)ro(,|$)/ { print $2 }' /proc/self/mounts | sort -u)
for at in $mounts; do
	at=$(printf %b "$at")
	case $at in
	"$dir" | /proc | /proc/* | /dev | /dev/* | /sys | /sys/*) ;;
	*) mount -o remount,bind,ro "$at" || exit 125 ;;
	esac
done
cd "$here" || exit 125
exec "$@"
