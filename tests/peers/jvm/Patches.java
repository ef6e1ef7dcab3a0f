import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.jena.atlas.io.AWriter;
import org.apache.jena.atlas.io.IO;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.rdfpatch.RDFChanges;
import org.apache.jena.rdfpatch.RDFPatchOps;
import org.apache.jena.rdfpatch.binary.RDFChangesWriterBinary;
import org.apache.jena.rdfpatch.binary.RDFPatchReaderBinary;
import org.apache.jena.rdfpatch.text.RDFPatchReaderText;
import org.apache.jena.sparql.core.Quad;

/**
 * Jena's RDF Patch as text ("rdfp") and in Thrift ("trp").
 *
 * <p>"rows" is an output format: one row per line, terms as in N-Quads, "Z" after each patch.
 */
final class Patches {
  private Patches() {}

  static boolean has(String format) {
    return format.equals("rdfp") || format.equals("trp");
  }

  static void convert(Path from, String source, Path to, String target) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(from));
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(to))) {
      if (target.equals("trp")) {
        RDFChangesWriterBinary.writeBinary(out, changes -> read(in, source, changes));
        return;
      }
      if (target.equals("rdfp")) {
        read(in, source, RDFPatchOps.textWriter(out));
        return;
      }
      Rows rows = new Rows(out);
      read(in, source, rows);
      rows.out.flush();
    }
  }

  private static void read(InputStream in, String format, RDFChanges changes) {
    if (format.equals("trp")) {
      RDFPatchReaderBinary.read(in, changes);
    } else {
      new RDFPatchReaderText(in).apply(changes);
    }
  }

  private static final class Rows implements RDFChanges {
    private final AWriter out;
    private final Terms terms = new Terms();

    Rows(OutputStream out) {
      this.out = IO.wrapUTF8(out);
    }

    private void row(String code, Node... nodes) {
      out.print(code);
      for (Node node : nodes) {
        if (node != null && !Quad.isDefaultGraph(node)) {
          out.print(" ");
          terms.format(out, node);
        }
      }
      out.print(" .\n");
    }

    private static Node text(String value) {
      return NodeFactory.createLiteralString(value);
    }

    @Override
    public void header(String field, Node value) {
      row("H " + field, value);
    }

    @Override
    public void add(Node g, Node s, Node p, Node o) {
      row("A", s, p, o, g);
    }

    @Override
    public void delete(Node g, Node s, Node p, Node o) {
      row("D", s, p, o, g);
    }

    @Override
    public void addPrefix(Node g, String prefix, String uri) {
      row("PA", text(prefix), NodeFactory.createURI(uri), g);
    }

    @Override
    public void deletePrefix(Node g, String prefix) {
      row("PD", text(prefix), g);
    }

    @Override
    public void txnBegin() {
      row("TX");
    }

    @Override
    public void txnCommit() {
      row("TC");
    }

    @Override
    public void txnAbort() {
      row("TA");
    }

    @Override
    public void segment() {
      row("Z");
    }

    @Override
    public void start() {}

    @Override
    public void finish() {}
  }
}
