# Homebrew on Linux. HOMEBREW_IROPT_ARCHIVE is the path of the source archive that scripts/package.sh makes:
#   HOMEBREW_IROPT_ARCHIVE=$PWD/packages/ir-opt-0.4.0.tar.xz brew install --build-from-source packaging/homebrew/ir-opt.rb
class IrOpt < Formula
  desc "Optimizer for machine learning models in ONNX and TVMScript"
  url "file://#{ENV.fetch("HOMEBREW_IROPT_ARCHIVE", "/nonexistent/ir-opt-0.4.0.tar.xz")}"
  version "0.4.0"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "cli11" => :build
  depends_on "eigen" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "protozero" => :build
  depends_on "python@3.12" => :build
  depends_on "rapidjson" => :build
  depends_on "xxhash" => :build
  depends_on "fmt"
  depends_on :linux
  depends_on "mimalloc"
  depends_on "zlib"

  # Headers without a formula.
  resource "dtl" do
    url "https://github.com/cubicdaiya/dtl/archive/refs/tags/v1.20.tar.gz"
  end

  def install
    resource("dtl").stage { (buildpath/"dependencies/dtl").install Dir["dtl/*.hpp"] }
    system "cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DIROPT_TESTS=OFF", "-DIROPT_BENCHMARKS=OFF",
           "-DIROPT_WERROR=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DIROPT_REQUIRED=onnx",
           "-DDTL_INCLUDE_DIR=#{buildpath}/dependencies", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"ir-opt", "-O3", "#{share}/doc/ir-opt/examples/cnn.onnx", "-o", testpath/"small.onnx"
    assert_path_exists testpath/"small.onnx"
  end
end
