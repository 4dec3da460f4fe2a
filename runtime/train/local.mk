# SPDX-License-Identifier: Apache-2.0
# The files of runtime/train/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libtrain.a
libtrain_a_SOURCES = \
	runtime/train/callback.c \
	runtime/train/callback.def \
	runtime/train/callback.h \
	runtime/train/callback_csv.c \
	runtime/train/callback_parts.h \
	runtime/train/callback_path.c \
	runtime/train/callback_run.c \
	runtime/train/callback_state.c \
	runtime/train/checkpoint.c \
	runtime/train/checkpoint.h \
	runtime/train/constraint.c \
	runtime/train/constraint.def \
	runtime/train/constraint.h \
	runtime/train/evaluate.c \
	runtime/train/head.c \
	runtime/train/head.h \
	runtime/train/keras.c \
	runtime/train/keras.h \
	runtime/train/keras_h5.c \
	runtime/train/keras_h5.h \
	runtime/train/loss.c \
	runtime/train/loss.def \
	runtime/train/loss.h \
	runtime/train/measures.c \
	runtime/train/measures.h \
	runtime/train/metric.c \
	runtime/train/metric.def \
	runtime/train/model.c \
	runtime/train/model.h \
	runtime/train/optimizer.c \
	runtime/train/optimizer.def \
	runtime/train/optimizer.h \
	runtime/train/optimizer_step.c \
	runtime/train/option.c \
	runtime/train/option.h \
	runtime/train/option_table.h \
	runtime/train/penalty.c \
	runtime/train/penalty.h \
	runtime/train/probe.c \
	runtime/train/regularizer.def \
	runtime/train/remote.c \
	runtime/train/remote.h \
	runtime/train/rotosolve.c \
	runtime/train/schedule.c \
	runtime/train/schedule.def \
	runtime/train/schedule.h \
	runtime/train/score.c \
	runtime/train/score.h \
	runtime/train/search.c \
	runtime/train/search.h \
	runtime/train/start.c \
	runtime/train/start.h \
	runtime/train/state.c \
	runtime/train/state.h \
	runtime/train/train.c \
	runtime/train/train.h \
	runtime/train/weights.c \
	runtime/train/weights.h \
	runtime/train/weights_file.h \
	runtime/train/weights_io.c \
	runtime/train/weights_read.c
