# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libexec.a
libexec_a_SOURCES = \
	runtime/exec/adjoint.c \
	runtime/exec/adjoint.h \
	runtime/exec/backend.c \
	runtime/exec/backend.h \
	runtime/exec/cones.c \
	runtime/exec/cones.h \
	runtime/exec/evaluator.c \
	runtime/exec/evaluator.h \
	runtime/exec/evaluator_far.c \
	runtime/exec/evaluator_run.c \
	runtime/exec/forms.c \
	runtime/exec/forms.h \
	runtime/exec/laps.def \
	runtime/exec/laps.h \
	runtime/exec/memory.c \
	runtime/exec/memory.h \
	runtime/exec/observable.c \
	runtime/exec/observable.h \
	runtime/exec/plan.c \
	runtime/exec/plan.h \
	runtime/exec/plan_build.h \
	runtime/exec/plan_floor.c \
	runtime/exec/plan_fuse.c \
	runtime/exec/plan_pair.c \
	runtime/exec/plan_place.c \
	runtime/exec/plan_print.c \
	runtime/exec/plan_shortcut.c \
	runtime/exec/plan_split.c \
	runtime/exec/plan_stage.c \
	runtime/exec/plan_stage.h \
	runtime/exec/plan_tail.c \
	runtime/exec/plan_time.c \
	runtime/exec/plan_try.c \
	runtime/exec/plan_work.c \
	runtime/exec/plan_work.h \
	runtime/exec/rank.c \
	runtime/exec/rank.h \
	runtime/exec/rank_basis.c \
	runtime/exec/rank_basis.h \
	runtime/exec/rank_cost.c \
	runtime/exec/rank_find.c \
	runtime/exec/rank_parts.c \
	runtime/exec/rank_proof.c \
	runtime/exec/rank_read.c \
	runtime/exec/rank_sketch.c \
	runtime/exec/rank_sketch.h \
	runtime/exec/rank_state.h \
	runtime/exec/shift.c \
	runtime/exec/shift.h \
	runtime/exec/shots.c \
	runtime/exec/shots.h \
	runtime/exec/shortcut.c \
	runtime/exec/shortcut.def \
	runtime/exec/shortcut.h \
	runtime/exec/shortcut_use.c \
	runtime/exec/shortcut_use.h \
	runtime/exec/units.c \
	runtime/exec/units.h
