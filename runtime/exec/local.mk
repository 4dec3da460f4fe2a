# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libexec.a
libexec_a_SOURCES = \
	runtime/exec/basis/basis.c \
	runtime/exec/basis/basis.h \
	runtime/exec/basis/batch_rank_check.c \
	runtime/exec/basis/batch_rank_cost.c \
	runtime/exec/basis/batch_rank_find.c \
	runtime/exec/basis/batch_rank_projection.c \
	runtime/exec/basis/batch_rank_projection.h \
	runtime/exec/basis/batch_rank_readouts.c \
	runtime/exec/basis/row_basis.c \
	runtime/exec/basis/row_basis.h \
	runtime/exec/engine.h \
	runtime/exec/engine_choose.c \
	runtime/exec/engine_items.c \
	runtime/exec/evaluator.c \
	runtime/exec/evaluator.h \
	runtime/exec/evaluator_phases.c \
	runtime/exec/evaluator_remote.c \
	runtime/exec/evaluator_run.c \
	runtime/exec/evaluator_state.h \
	runtime/exec/exact_optimisation.c \
	runtime/exec/exact_optimisation.def \
	runtime/exec/exact_optimisation.h \
	runtime/exec/exact_optimisation_use.c \
	runtime/exec/exact_optimisation_use.h \
	runtime/exec/light_cones.c \
	runtime/exec/light_cones.h \
	runtime/exec/shots.c \
	runtime/exec/shots.h \
	runtime/exec/statevector/backend.c \
	runtime/exec/statevector/backend.h \
	runtime/exec/statevector/gradient_adjoint.c \
	runtime/exec/statevector/gradient_adjoint.h \
	runtime/exec/statevector/gradient_shift.c \
	runtime/exec/statevector/gradient_shift.h \
	runtime/exec/statevector/observable.c \
	runtime/exec/statevector/observable.h \
	runtime/exec/statevector/pauli_observables.c \
	runtime/exec/statevector/pauli_observables.h \
	runtime/exec/statevector/plan/plan.c \
	runtime/exec/statevector/plan/plan.h \
	runtime/exec/statevector/plan/plan_build.h \
	runtime/exec/statevector/plan/plan_fuse.c \
	runtime/exec/statevector/plan/plan_heisenberg.c \
	runtime/exec/statevector/plan/plan_pair.c \
	runtime/exec/statevector/plan/plan_place.c \
	runtime/exec/statevector/plan/plan_print.c \
	runtime/exec/statevector/plan/plan_search.c \
	runtime/exec/statevector/plan/plan_split.c \
	runtime/exec/statevector/plan/plan_stage.c \
	runtime/exec/statevector/plan/plan_stage.h \
	runtime/exec/statevector/plan/plan_time.c \
	runtime/exec/statevector/plan/plan_work.c \
	runtime/exec/statevector/plan/plan_work.h \
	runtime/exec/statevector/state_memory.c \
	runtime/exec/statevector/state_memory.h \
	runtime/exec/statevector/statevector.c \
	runtime/exec/statevector/statevector.h \
	runtime/exec/statevector/statevector_memory.c \
	runtime/exec/statevector/statevector_units.c \
	runtime/exec/target.h
