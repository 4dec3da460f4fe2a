# SPDX-License-Identifier: Apache-2.0
# The files of runtime/data/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libdata.a
libdata_a_SOURCES = \
	runtime/data/dataset.c \
	runtime/data/dataset.h \
	runtime/data/eigen.c \
	runtime/data/eigen.h \
	runtime/data/format/array_places.c \
	runtime/data/format/array_places.h \
	runtime/data/format/csv.c \
	runtime/data/format/csv.h \
	runtime/data/format/csv_table.c \
	runtime/data/format/csv_table.h \
	runtime/data/format/csv_window.c \
	runtime/data/format/csv_window.h \
	runtime/data/format/dataset_arrays.c \
	runtime/data/format/dataset_csv.c \
	runtime/data/format/dataset_idx.c \
	runtime/data/format/dataset_read.c \
	runtime/data/format/dataset_read.h \
	runtime/data/format/dataset_spec.c \
	runtime/data/format/dataset_spec.h \
	runtime/data/format/idx.c \
	runtime/data/format/idx.h \
	runtime/data/format/label_words.c \
	runtime/data/format/label_words.h \
	runtime/data/format/npy.c \
	runtime/data/format/npz.c \
	runtime/data/format/npz.h \
	runtime/data/format/npz_records.h \
	runtime/data/format/npz_write.c \
	runtime/data/format/reader.c \
	runtime/data/format/reader.h \
	runtime/data/generate/gen_cluster.c \
	runtime/data/generate/gen_ising.c \
	runtime/data/generate/gen_stripes.c \
	runtime/data/generate/generate.c \
	runtime/data/generate/generate.h \
	runtime/data/generate/generators.def \
	runtime/data/generate/ising.c \
	runtime/data/generate/ising.h \
	runtime/data/number.c \
	runtime/data/number.h \
	runtime/data/row_store.c \
	runtime/data/row_store.h \
	runtime/data/split.c \
	runtime/data/stratify.c \
	runtime/data/transform/covariance.c \
	runtime/data/transform/covariance.h \
	runtime/data/transform/transform.c \
	runtime/data/transform/transform.h \
	runtime/data/transform/transform_file.c \
	runtime/data/transform/transform_fit.c \
	runtime/data/transform/transforms.def
