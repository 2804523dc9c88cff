#include "proprio/geometry/collada.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/testing/message_of.h"
#include "proprio/geometry/mesh_file.h"

namespace proprio {
namespace {

/// A file with one geometry, the tetrahedron with three edges of one unit, whose triangles are
/// written as `primitive`; normals stand between the indices of corners.
std::string collada(const std::string& primitive, const std::string& nodes,
                    const std::string& unit = "<unit name='meter' meter='1'/>") {
  return "<?xml version='1.0' encoding='utf-8'?>\n"
         "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>\n"
         "<asset>" +
         unit +
         "<up_axis>Y_UP</up_axis></asset>\n"
         "<library_geometries><geometry id='shape'><mesh>\n"
         "<source id='points'><float_array id='a' count='12'>0 0 0  1 0 0  0 1 0  0 0 1"
         "</float_array><technique_common><accessor source='#a' count='4' stride='3'/>"
         "</technique_common></source>\n"
         "<source id='normals'><float_array count='3'>0 0 1</float_array></source>\n"
         "<vertices id='v'><input semantic='POSITION' source='#points'/></vertices>\n" +
         primitive +
         "\n</mesh></geometry></library_geometries>\n"
         "<library_nodes><node id='shared'><scale>2 2 2</scale>"
         "<instance_geometry url='#shape'/></node></library_nodes>\n"
         "<library_visual_scenes><visual_scene id='s'>" +
         nodes +
         "</visual_scene></library_visual_scenes>\n"
         "<scene><instance_visual_scene url='#s'/></scene></COLLADA>\n";
}

const std::string kInputs =
    "<input semantic='VERTEX' source='#v' offset='0'/>"
    "<input semantic='NORMAL' source='#normals' offset='1'/>";
const std::string kTriangles = "<triangles count='4'>" + kInputs +
                               "<p>0 0 2 0 1 0 0 0 1 0 3 0 0 0 3 0 2 0 1 0 2 0 3 0</p></triangles>";
const std::string kNode = "<node><instance_geometry url='#shape'/></node>";

// Whichever way the faces are written, the tetrahedron has its volume of 1/6 and its centre at 1/4.
TEST(Collada, EveryWayToWriteFaces) {
  const std::string polylist = "<polylist count='4'>" + kInputs +
                               "<vcount>3 3 3 3</vcount><p>0 0 2 0 1 0 0 0 1 0 3 0 0 0 3 0 2 0 1 0 "
                               "2 0 3 0</p></polylist>";
  const std::string polygons =
      "<polygons>" + kInputs +
      "<p>0 0 2 0 1 0</p><p>0 0 1 0 3 0</p><p>0 0 3 0 2 0</p><p>1 0 2 0 3 0</p></polygons>";
  const std::string plain = "<input semantic='VERTEX' source='#v' offset='0'/>";
  // the strip 0 2 1 3 is 0 2 1 and, turned, 2 3 1; the fan about 0 is 0 1 3 and 0 3 2
  const std::string mixed = "<tristrips>" + plain + "<p>0 2 1 3</p></tristrips><lines>" + plain +
                            "<p>0 1</p></lines><trifans>" + plain + "<p>0 1 3 2</p></trifans>";
  for (const std::string& primitive : {kTriangles, polylist, polygons, mixed}) {
    SCOPED_TRACE(primitive);
    const TriangleMesh mesh = readCollada(collada(primitive, kNode), "t.dae");
    EXPECT_EQ(mesh.triangles.size(), 4u);
    const Solid solid = meshSolid(mesh);
    EXPECT_TRUE(solid.closed);
    EXPECT_NEAR(solid.volume(), 1.0 / 6.0, 1e-15);
    EXPECT_NEAR((solid.unit_density.com() - Vector3d::Constant(0.25)).norm(), 0.0, 1e-15);
  }
}

// Nodes move, turn, stretch and mirror what is below them, in the order written; the file's unit
// comes last; a geometry that is shown twice is there twice.
TEST(Collada, NodesPlaceTheGeometry) {
  const std::string inch = "<unit meter='0.0254'/>";
  const Solid small = meshSolid(readCollada(collada(kTriangles, kNode, inch), "t.dae"));
  EXPECT_NEAR(small.volume(), std::pow(0.0254, 3) / 6.0, 1e-18);

  // z of the shape, doubled, points along x of the scene and is moved by (0, 0, 5)
  const std::string moved =
      "<node><translate>0 0 5</translate><node><rotate>0 1 0 90</rotate>"
      "<scale>1 1 2</scale><instance_geometry url='#shape'/></node></node>";
  const Solid solid = meshSolid(readCollada(collada(kTriangles, moved), "t.dae"));
  EXPECT_NEAR(solid.volume(), 2.0 / 6.0, 1e-14);
  EXPECT_NEAR((solid.lower - Vector3d(0, 0, 4)).norm(), 0.0, 1e-14);
  EXPECT_NEAR((solid.upper - Vector3d(2, 1, 5)).norm(), 0.0, 1e-14);

  // a mirrored copy beside the shape does not turn inside out: volumes add up
  const std::string pair =
      kNode +
      "<node><matrix>-1 0 0 -3  0 1 0 0  0 0 1 0  0 0 0 1</matrix>"
      "<instance_geometry url='#shape'/></node><node><instance_node url='#shared'/></node>";
  const TriangleMesh three = readCollada(collada(kTriangles, pair), "t.dae");
  EXPECT_EQ(three.triangles.size(), 12u);
  EXPECT_NEAR(meshSolid(three).volume(), (1.0 + 1.0 + 8.0) / 6.0, 1e-14);
}

// Damaged files are refused with file and line, and nodes that contain each other do not unfold.
TEST(Collada, Damaged) {
  const auto message = [](const std::string& text) {
    return messageOf([&] { readCollada(text, "t.dae"); });
  };
  EXPECT_EQ(message("<robot/>").rfind("t.dae:1", 0), 0u);
  EXPECT_NE(message(collada(kTriangles, "<node><instance_geometry url='#no'/></node>"))
                .find("'#no'; expected the id of a <geometry>"),
            std::string::npos);
  std::string text = collada(kTriangles, kNode);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_EQ(message(with("0 0 2 0 1 0", "0 0 9 0 1 0")).rfind("t.dae:8", 0), 0u);
  EXPECT_NE(message(with("0 0 2 0 1 0", "0 0 2 0 1 0 3 0")).find("fewer corners"),
            std::string::npos);
  EXPECT_NE(message(with("0 1 0  0 0 1", "0 1 0  0 one 1")).find("'one'"), std::string::npos);
  EXPECT_NE(message(with("stride='3'", "stride='2'")).find("stride is 2"), std::string::npos);
  EXPECT_NE(message(with("semantic='VERTEX'", "semantic='COLOR'")).find("VERTEX"),
            std::string::npos);
  text = collada(kTriangles, "<node><instance_node url='#shared'/></node>");
  EXPECT_NE(message(with("<instance_geometry url='#shape'/></node></library_nodes>",
                         "<instance_node url='#shared'/><instance_node url='#shared'/></node>"
                         "</library_nodes>"))
                .find("contain each other"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
