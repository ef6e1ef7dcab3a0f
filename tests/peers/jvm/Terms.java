import org.apache.jena.atlas.io.AWriter;
import org.apache.jena.riot.out.NodeFormatterNT;

/** Writes terms as in N-Quads, with unchanged blank node labels. */
final class Terms extends NodeFormatterNT {
  @Override
  public void formatBNode(AWriter to, String label) {
    to.print("_:");
    to.print(label);
  }
}
