/* SPDX-License-Identifier: Apache-2.0
 * HDF5 (libhdf5 stays behind this file): Keras's groups, attributes and arrays.
 *
 * The library sees bytes in memory only, never a path: files are read and written by us, and
 * what lies outside a file (external links, raw data elsewhere) is refused. */
#include "runtime/train/keras/keras_h5.h"

#include <stdbool.h>

#if QCNN_HDF5
#include <dlfcn.h>
#include <hdf5.h>
#include <string.h>

/* ---- the library, loaded when it is needed ---- */

/* What the constants of its headers would call first; load() opens the library. */
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

#define NAMES(name) \
	name(H5open) name(H5Eset_auto2) name(H5Aopen) name(H5Aclose) name(H5Acreate2) name(H5Aexists) name( \
		H5Aget_space) name(H5Aget_type) name(H5Aread) name(H5Awrite) name(H5Dclose) name(H5Dcreate2) \
		name(H5Dget_create_plist) name(H5Dget_space) name(H5Dget_type) name(H5Dopen2) name( \
			H5Dread) name(H5Dwrite) name(H5Fclose) name(H5Fcreate) name(H5Fflush) name(H5Fget_file_image) \
			name(H5Fopen) name(H5Gclose) name(H5Gcreate2) name(H5Gopen2) name(H5Lexists) name( \
				H5Pclose) name(H5Pcreate) name(H5Pget_external_count) name(H5Pget_layout) \
				name(H5Pset_create_intermediate_group) name(H5Pset_fapl_core) name( \
					H5Pset_file_image) name(H5Pset_libver_bounds) name(H5Pset_obj_track_times) \
					name(H5Sclose) name(H5Screate) name(H5Screate_simple) name(H5Sget_simple_extent_dims) \
						name(H5Sget_simple_extent_ndims) name(H5Tclose) name(H5Tcopy) \
							name(H5Tget_class) name(H5Tget_size) name(H5Tis_variable_str) \
								name(H5Tset_size) name(H5T_NATIVE_DOUBLE_g) \
									name(H5T_IEEE_F64LE_g) name(H5T_C_S1_g) \
										name(H5P_CLS_FILE_ACCESS_ID_g) \
											name(H5P_CLS_LINK_CREATE_ID_g) \
												name(H5P_CLS_DATASET_CREATE_ID_g)
/* The name depends on the version of the headers. */
#define LINK_INFO_NAME(x) LINK_INFO_TEXT(x)
#define LINK_INFO_TEXT(x) #x

#define MEMBER(name) __typeof__(name) *name;
static struct { bool loaded; NAMES(MEMBER) __typeof__(H5Lget_info) *get_link_info; } lib;

static bool find(void *handle, const char *name, void *out)
{
	void *p = dlsym(handle, name);

	memcpy(out, &p, sizeof p);
	return p;
}

int keras_h5_load(struct err *e)
{
	void *handle;
	bool all = true;

	if (lib.loaded)
		return 0;
	handle = dlopen(QCNN_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_set(e, -ERR_CONFIG, ".h5 files need the library HDF5, which cannot be loaded: %s", dlerror());
#define FIND(name) all = all && find(handle, #name, &lib.name);
	NAMES(FIND)
	all = all && find(handle, LINK_INFO_NAME(H5Lget_info), &lib.get_link_info);
	if (!all || lib.H5open() < 0)
		return err_set(e, -ERR_CONFIG, ".h5 files need the library HDF5; %s is not the one that qcnn was built with",
			QCNN_HDF5_LIBRARY);
	lib.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	lib.loaded = true;
	return 0;
}

/* A file that is `bytes` in memory, or a new one. */
static hid_t memory_file(const struct buf *bytes)
{
	hid_t access = lib.H5Pcreate(*lib.H5P_CLS_FILE_ACCESS_ID_g), file = -1;

	/* HDF5 2 otherwise writes a newer format, whose groups have times. */
	lib.H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);

	if (lib.H5Pset_fapl_core(access, 1 << 16, 0) < 0)
		file = -1;
	else if (!bytes)
		file = lib.H5Fcreate("new.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
	else if (lib.H5Pset_file_image(access, bytes->data, bytes->len) >= 0)
		file = lib.H5Fopen("image.h5", H5F_ACC_RDONLY, access);
	lib.H5Pclose(access);
	return file;
}

/* ---- reading, in a process of its own; what it opens is closed by its end ---- */

struct names { uint32_t n; char **name; };

struct source {
	hid_t group;
	uint64_t left;               /* numbers that may still be read */
	struct buf *out;
	uint32_t n;                  /* arrays in out */
	struct err *e;
};

/* Every part of the path is there, in this very file. */
static bool is_inside(hid_t at, const char *path)
{
	char part[KERAS_NAME_MAX + 1];
	size_t n = strlen(path);
	H5L_info_t info;

	if (!n || n > KERAS_NAME_MAX)
		return false;
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (lib.H5Lexists(at, part, H5P_DEFAULT) <= 0 || lib.get_link_info(at, part, &info, H5P_DEFAULT) < 0
				|| info.type != H5L_TYPE_HARD)
			return false;
	}
	return true;
}

static int64_t space_count(hid_t space, uint32_t *ndim, hsize_t dim[KERAS_DIMS_MAX])
{
	int n = lib.H5Sget_simple_extent_ndims(space);
	uint64_t count = 1;

	if (n < 0 || n > KERAS_DIMS_MAX || lib.H5Sget_simple_extent_dims(space, dim, NULL) < 0)
		return -1;
	for (int k = 0; k < n; k++) {
		if (dim[k] && count > KERAS_NUMBERS_MAX / dim[k])
			return -1;
		count *= dim[k];
	}
	*ndim = (uint32_t)n;
	return (int64_t)count;
}

/* Strings of an attribute: of variable length, or of `size` bytes each. */
static bool read_strings(hid_t attribute, hid_t type, uint32_t n, struct names *out)
{
	size_t size = lib.H5Tget_size(type);
	bool variable = lib.H5Tis_variable_str(type) > 0;

	out->name = mem_try((size_t)n + 1, sizeof *out->name);
	if (!variable && size > KERAS_NAME_MAX)
		return false;
	if (!out->name || (variable && lib.H5Aread(attribute, type, out->name) < 0))
		return false;
	char *bytes = variable ? NULL : mem_try((size_t)n + 1, size + 1);
	if (!variable && (!bytes || lib.H5Aread(attribute, type, bytes) < 0))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!variable)
			out->name[i] = strndup(bytes + i * size, size);
		if (!out->name[i] || strlen(out->name[i]) > KERAS_NAME_MAX)
			return false;
	}
	out->n = n;
	return true;
}

static int read_names(struct source *s, hid_t at, const char *where, const char *attribute, struct names *out)
{
	hid_t a = lib.H5Aopen(at, attribute, H5P_DEFAULT);
	hid_t type = a < 0 ? -1 : lib.H5Aget_type(a), space = a < 0 ? -1 : lib.H5Aget_space(a);
	hsize_t dim[KERAS_DIMS_MAX];
	uint32_t ndim;
	int64_t n = space < 0 ? -1 : space_count(space, &ndim, dim);

	*out = (struct names){ 0, NULL };
	if (n == 0)
		return 0;            /* Keras writes numbers where it has no names */
	if (n < 0 || n > KERAS_ARRAYS_MAX || lib.H5Tget_class(type) != H5T_STRING || !read_strings(a, type, (uint32_t)n, out))
		return err_set(s->e, -ERR_BAD_DATA, "%s: the attribute %s is no list of at most %d names", where, attribute,
			KERAS_ARRAYS_MAX);
	return 0;
}

static void put_text(struct buf *out, const char *s)
{
	buf_u32(out, (uint32_t)strlen(s));
	buf_str(out, s);
}

static int put_values(struct source *s, const char *name, hid_t data, uint64_t count)
{
	mem_auto double *value = mem_try(count + 1, sizeof *value);

	if (!value)
		return err_set(s->e, -ERR_CONFIG, "%s: no memory for %llu numbers", name, (unsigned long long)count);
	if (count && lib.H5Dread(data, *lib.H5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0)
		return err_set(s->e, -ERR_BAD_DATA, "%s: its numbers cannot be read: the file is damaged, or they need more memory than its size accounts for", name);
	buf_f64s(s->out, value, count);
	return 0;
}

static bool is_stored_here(hid_t data)
{
	hid_t plist = lib.H5Dget_create_plist(data);
	H5D_layout_t layout = lib.H5Pget_layout(plist);

	return (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED)
		&& lib.H5Pget_external_count(plist) == 0;
}

static int read_array(struct source *s, hid_t at, const char *layer, const char *name)
{
	bool inside = is_inside(at, name);
	hid_t data = inside ? lib.H5Dopen2(at, name, H5P_DEFAULT) : -1;
	hid_t type = data < 0 ? -1 : lib.H5Dget_type(data), space = data < 0 ? -1 : lib.H5Dget_space(data);
	hsize_t dim[KERAS_DIMS_MAX];
	uint32_t ndim = 0;
	int64_t count = space < 0 ? -1 : space_count(space, &ndim, dim);
	H5T_class_t class = type < 0 ? H5T_NO_CLASS : lib.H5Tget_class(type);

	if (!inside)
		return err_set(s->e, -ERR_BAD_DATA, "%s: no array %s, which weight_names lists", layer, name);
	if (data < 0)
		return err_set(s->e, -ERR_BAD_DATA,
			"%s: HDF5 cannot open %s: it is no array, or the file is damaged", layer,
			name);
	if (class != H5T_FLOAT && class != H5T_INTEGER)
		return err_set(s->e, -ERR_BAD_DATA, "%s: %s does not hold real numbers", layer, name);
	if (count >= 0 && (uint64_t)count > s->left)
		return err_set(s->e, -ERR_BAD_DATA, "%s: %s: more numbers than a file of this size, or this model, needs", layer, name);
	if (count < 0 || !is_stored_here(data))
		return err_set(s->e, -ERR_BAD_DATA, "%s: %s: more than %d numbers or %d dimensions, or not stored in this file", layer,
			name, KERAS_NUMBERS_MAX, KERAS_DIMS_MAX);
	if (++s->n > KERAS_ARRAYS_MAX)
		return err_set(s->e, -ERR_BAD_DATA, "more than %d arrays", KERAS_ARRAYS_MAX);
	s->left -= (uint64_t)count;
	put_text(s->out, layer);
	put_text(s->out, name);
	buf_u32(s->out, ndim);
	for (uint32_t k = 0; k < ndim; k++)
		buf_u64(s->out, dim[k]);
	return put_values(s, name, data, (uint64_t)count);
}

static int read_layer(struct source *s, const char *layer)
{
	hid_t at = is_inside(s->group, layer) ? lib.H5Gopen2(s->group, layer, H5P_DEFAULT) : -1;
	struct names weights;

	if (at < 0)
		return err_set(s->e, -ERR_BAD_DATA, "no group %s, which layer_names lists", layer);
	int code = read_names(s, at, layer, "weight_names", &weights);
	for (uint32_t i = 0; !code && i < weights.n; i++)
		code = read_array(s, at, layer, weights.name[i]);
	return code;
}

int keras_h5_read_image(const struct buf *image, uint64_t numbers, struct buf *out, uint32_t *narray, struct err *e)
{
	hid_t file = memory_file(image);
	struct source s = { .group = file, .left = numbers, .out = out, .e = e };
	struct names layers;

	if (file < 0)
		return err_set(e, -ERR_BAD_DATA, "not an HDF5 file, or damaged");
	if (lib.H5Aexists(file, "layer_names") <= 0 && is_inside(file, "model_weights"))
		s.group = lib.H5Gopen2(file, "model_weights", H5P_DEFAULT);
	if (lib.H5Aexists(s.group, "layer_names") <= 0)
		return err_set(e, -ERR_BAD_DATA, "no attribute layer_names: not weights in the layout of Keras 2; with tf_keras, "
			"save_weights to a name ending in .h5 writes them");
	int code = read_names(&s, s.group, "the file", "layer_names", &layers);
	for (uint32_t i = 0; !code && i < layers.n; i++)
		code = read_layer(&s, layers.name[i]);
	*narray = s.n;
	return code;
}

/* ---- writing ---- */

/* An attribute with strings of variable length; n 0: one string alone. */
static bool put_names(hid_t at, const char *attribute, const char *const *name, uint32_t n)
{
	hsize_t dim = n;
	hid_t type = lib.H5Tcopy(*lib.H5T_C_S1_g), space = n ? lib.H5Screate_simple(1, &dim, NULL) : lib.H5Screate(H5S_SCALAR), a;
	bool ok = lib.H5Tset_size(type, H5T_VARIABLE) >= 0;

	a = lib.H5Acreate2(at, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
	ok = ok && a >= 0 && lib.H5Awrite(a, type, name) >= 0;
	if (a >= 0)
		lib.H5Aclose(a);
	lib.H5Sclose(space);
	lib.H5Tclose(type);
	return ok;
}

static bool put_array(hid_t at, const struct keras_array *x)
{
	hid_t space = lib.H5Screate_simple((int)x->ndim, (const hsize_t *)x->dim, NULL), data;
	hid_t with_groups = lib.H5Pcreate(*lib.H5P_CLS_LINK_CREATE_ID_g),
	      timeless = lib.H5Pcreate(*lib.H5P_CLS_DATASET_CREATE_ID_g);

	lib.H5Pset_create_intermediate_group(with_groups, 1);
	lib.H5Pset_obj_track_times(timeless, false);      /* equal weights are equal files */
	data = lib.H5Dcreate2(at, x->name, *lib.H5T_IEEE_F64LE_g, space, with_groups, timeless, H5P_DEFAULT);
	bool ok = data >= 0
		&& (!x->count
			|| lib.H5Dwrite(data, *lib.H5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL,
				   H5P_DEFAULT, x->value)
				>= 0);
	if (data >= 0)
		lib.H5Dclose(data);
	lib.H5Pclose(with_groups);
	lib.H5Pclose(timeless);
	lib.H5Sclose(space);
	return ok;
}

/* The n arrays of one layer. */
static bool put_layer(hid_t file, const struct keras_array *x, uint32_t n)
{
	hid_t at = lib.H5Gcreate2(file, x->layer, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	mem_auto const char **name = mem_alloc((size_t)n + 1, sizeof *name);
	bool ok = at >= 0;

	for (uint32_t i = 0; ok && i < n; i++) {
		name[i] = x[i].name;
		ok = put_array(at, &x[i]);
	}
	ok = ok && put_names(at, "weight_names", name, n);
	if (at >= 0)
		lib.H5Gclose(at);
	return ok;
}

static bool put_layers(hid_t file, const struct keras_array *array, uint32_t n)
{
	static const char *const backend[] = { "tensorflow" }, *const version[] = { "2.18.0" };
	mem_auto const char **layer = mem_alloc((size_t)n + 1, sizeof *layer);
	uint32_t nlayer = 0, count;
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i += count) {
		for (count = 1; i + count < n && !strcmp(array[i + count].layer, array[i].layer); count++)
			;
		layer[nlayer++] = array[i].layer;
		ok = put_layer(file, &array[i], count);
	}
	ok = ok && put_names(file, "layer_names", layer, nlayer)
		&& put_names(file, "backend", backend, 0)
		&& put_names(file, "keras_version", version, 0);
	return ok;
}

static bool take_image(hid_t file, struct buf *out)
{
	ssize_t n = lib.H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : lib.H5Fget_file_image(file, NULL, 0);

	if (n > 0)
		out->data = mem_try((size_t)n + 1, 1);
	if (!out->data)
		return false;
	out->len = out->cap = (size_t)n;
	return lib.H5Fget_file_image(file, out->data, out->len) == n;
}

int keras_h5_write(const char *path, const struct keras_array *array, uint32_t n, struct err *e)
{
	buf_auto image = BUF_INIT;
	int code = keras_h5_load(e);

	if (code)
		return code;
	if (!n || n > KERAS_ARRAYS_MAX)
		return err_set(e, -ERR_BAD_DATA, n ? "%s: %u arrays, Keras's layout takes %d" : "%s: no weights", path, n, KERAS_ARRAYS_MAX);
	hid_t file = memory_file(NULL);
	bool ok = file >= 0 && put_layers(file, array, n) && take_image(file, &image);
	if (file >= 0)
		lib.H5Fclose(file);
	return ok ? buf_write_file(&image, path, 0, e)
		  : err_set(e, -ERR_CONFIG, "%s: the HDF5 library cannot hold these weights", path);
}

#else

/* Without it nothing else is called. */
int keras_h5_load(struct err *e)
{
	return err_set(e, -ERR_CONFIG, "this qcnn was built without HDF5, which .h5 files need; install its headers (Debian, Ubuntu: "
		"libhdf5-dev), configure and build again");
}

int keras_h5_read_image(const struct buf *image, uint64_t numbers, struct buf *out, uint32_t *narray, struct err *e)
{
	(void)image;
	(void)numbers;
	(void)out;
	(void)narray;
	return keras_h5_load(e);
}

int keras_h5_write(const char *path, const struct keras_array *array, uint32_t n, struct err *e)
{
	(void)array;
	(void)n;
	keras_h5_load(e);
	err_prefix(e, "%s", path);
	return -ERR_CONFIG;
}

#endif
