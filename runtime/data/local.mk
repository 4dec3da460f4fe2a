# SPDX-License-Identifier: Apache-2.0
# The files of runtime/data/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libdata.a
libdata_a_SOURCES = \
	runtime/data/array_places.c \
	runtime/data/array_places.h \
	runtime/data/covariance.c \
	runtime/data/covariance.h \
	runtime/data/csv.c \
	runtime/data/csv.h \
	runtime/data/csv_table.c \
	runtime/data/csv_table.h \
	runtime/data/csv_window.c \
	runtime/data/csv_window.h \
	runtime/data/dataset.c \
	runtime/data/dataset.h \
	runtime/data/dataset_arrays.c \
	runtime/data/dataset_csv.c \
	runtime/data/dataset_idx.c \
	runtime/data/dataset_spec.c \
	runtime/data/dataset_spec.h \
	runtime/data/eigen.c \
	runtime/data/eigen.h \
	runtime/data/gen_cluster.c \
	runtime/data/gen_ising.c \
	runtime/data/gen_stripes.c \
	runtime/data/generate.c \
	runtime/data/generate.h \
	runtime/data/generators.def \
	runtime/data/idx.c \
	runtime/data/idx.h \
	runtime/data/ising.c \
	runtime/data/ising.h \
	runtime/data/label_words.c \
	runtime/data/label_words.h \
	runtime/data/npy.c \
	runtime/data/npz.c \
	runtime/data/npz_records.h \
	runtime/data/npz_write.c \
	runtime/data/number.c \
	runtime/data/number.h \
	runtime/data/pca.c \
	runtime/data/pca.h \
	runtime/data/reader.h \
	runtime/data/row_store.c \
	runtime/data/row_store.h \
	runtime/data/split.c \
	runtime/data/stratify.c \
	runtime/data/transform.c \
	runtime/data/transform.h \
	runtime/data/transform_file.c \
	runtime/data/transform_fit.c \
	runtime/data/transforms.def
