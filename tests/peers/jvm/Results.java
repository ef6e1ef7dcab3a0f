import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.jena.atlas.io.AWriter;
import org.apache.jena.atlas.io.IO;
import org.apache.jena.graph.Node;
import org.apache.jena.query.ARQ;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.resultset.ResultSetLang;
import org.apache.jena.riot.rowset.RowSetReader;
import org.apache.jena.riot.rowset.RowSetWriter;
import org.apache.jena.riot.rowset.RowSetWriterRegistry;
import org.apache.jena.sparql.core.Var;
import org.apache.jena.sparql.engine.binding.Binding;
import org.apache.jena.sparql.exec.QueryExecResult;
import org.apache.jena.sparql.exec.RowSet;

/**
 * Jena's SPARQL results formats: "srj", "srx", "tsv", "srt" and "srp".
 *
 * <p>"table" is an output format: variables on the first line, then one row per line, with
 * tab-separated terms as in N-Quads; or a boolean answer, "true" or "false".
 */
final class Results {
  static {
    ARQ.init();
  }

  private static final Map<String, Lang> LANGS =
      Map.of(
          "srj", ResultSetLang.RS_JSON,
          "srx", ResultSetLang.RS_XML,
          "tsv", ResultSetLang.RS_TSV,
          "srt", ResultSetLang.RS_Thrift,
          "srp", ResultSetLang.RS_Protobuf);

  private Results() {}

  static boolean has(String format) {
    return LANGS.containsKey(format);
  }

  static void convert(Path from, String source, Path to, String target) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(from));
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(to))) {
      QueryExecResult found =
          RowSetReader.createReader(LANGS.get(source)).readAny(in, ARQ.getContext());
      if (target.equals("table")) {
        write(found, IO.wrapUTF8(out));
        return;
      }
      Lang lang = LANGS.get(target);
      RowSetWriter writer = RowSetWriterRegistry.getFactory(lang).create(lang);
      if (found.isBoolean()) {
        writer.write(out, found.booleanResult(), ARQ.getContext());
      } else {
        writer.write(out, found.rowSet(), ARQ.getContext());
      }
    }
  }

  static void write(QueryExecResult found, AWriter out) {
    if (found.isBoolean()) {
      out.print(found.booleanResult() + "\n");
      out.flush();
      return;
    }
    RowSet rows = found.rowSet();
    Terms terms = new Terms();
    String head = "";
    for (Var variable : rows.getResultVars()) {
      out.print(head + variable.getVarName());
      head = "\t";
    }
    out.print("\n");
    while (rows.hasNext()) {
      Binding row = rows.next();
      head = "";
      for (Var variable : rows.getResultVars()) {
        out.print(head);
        head = "\t";
        Node term = row.get(variable);
        if (term != null) {
          terms.format(out, term);
        }
      }
      out.print("\n");
    }
    out.flush();
  }
}
