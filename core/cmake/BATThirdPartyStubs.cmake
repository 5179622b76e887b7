# SPDX-License-Identifier: BSD-3-Clause
# Empty targets for the third parties that ParaView's exported targets mention and this machine has no
# development package of. The plugins neither compile nor link against them, and the VTK libraries
# carry their own dependencies, so an empty target is enough for CMake to generate.
foreach (_bat_target IN ITEMS
    Boost::boost
    EXPAT::EXPAT
    Eigen3::Eigen3
    FFMPEG::avcodec FFMPEG::avformat FFMPEG::avutil FFMPEG::swresample FFMPEG::swscale
    Freetype::Freetype
    GDAL::GDAL
    GL2PS::GL2PS
    GLEW::GLEW
    JPEG::JPEG
    LZ4::LZ4
    LZMA::LZMA
    LibXml2::LibXml2
    NetCDF::NetCDF
    OGG::OGG
    OpenGL::EGL OpenGL::GL OpenGL::GLX OpenGL::OpenGL
    PNG::PNG
    Python3::Module Python3::Python
    THEORA::DEC THEORA::ENC THEORA::THEORA
    TIFF::TIFF
    X11::X11 X11::Xcursor
    ZLIB::ZLIB
    double-conversion::double-conversion
    hdf5::hdf5 hdf5::hdf5_hl
    mpi4py::mpi4py
    utf8cpp::utf8cpp)
  if (NOT TARGET ${_bat_target})
    add_library(${_bat_target} INTERFACE IMPORTED)
  endif ()
endforeach ()
