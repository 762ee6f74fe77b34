# option_values.sh IR_OPT: builds pipelines with wrong values of options, and prints what ir-opt says and its exit code.
build() {
  "$ir_opt" -passes="$1" -print-pipeline
  echo "code $?"
}
ir_opt=$1
build 'ConvertLayout<desired_layouts={"relax.nn.conv2d":["NHWC"]}>'
build 'AlterOpLayout<desired_layouts=3>'
build 'BindSymbolicVars<binding_map={n:abc}>'
build 'BindParams<params=3>'
build 'BindParams<params={"w": {"dtype": "float31", "shape": [], "data": 1}}>'
build 'LiftTransformParams<shared_transform=[1]>'
build 'UpdateParamStructInfo<updates={"main": {"x": 3}}>'
build 'UpdateVDevice<new_vdevice=3>'
build "UpdateVDevice<new_vdevice=\"I.vdevic('cuda')\">"
build "UpdateVDevice<new_vdevice=\"I.vdevice('cuda')\";index=-1>"
build 'FoldConstant<max_bytes=-1>'
build 'ConvertToDataflow<min_size=-2>'
build 'ToMixedPrecision<out_dtype=bfloat16>'
