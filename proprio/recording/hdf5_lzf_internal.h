#pragma once

/// The filter LZF of h5py (number 32000), which the HDF5 library does not have by itself.

namespace proprio {

/// From now on the library of this process reads datasets that are compressed with LZF.
void registerLzf();

}  // namespace proprio
