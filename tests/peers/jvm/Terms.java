import org.apache.jena.atlas.io.AWriter;
import org.apache.jena.riot.out.NodeFormatterNT;

/** Writes terms as N-Quads has them, blank nodes with the labels that they have. */
final class Terms extends NodeFormatterNT {
  @Override
  public void formatBNode(AWriter to, String label) {
    to.print("_:");
    to.print(label);
  }
}
