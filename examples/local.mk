# SPDX-License-Identifier: Apache-2.0
# The examples: shipped, and installed below $(pkgdatadir)/examples. A new file: one line here.

nobase_dist_pkgdata_DATA +=
