import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.jena.atlas.io.IO;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.riot.lang.LabelToNode;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;
import org.apache.jena.sparql.engine.ref.QueryEngineRef;
import org.apache.jena.sparql.exec.QueryExec;
import org.apache.jena.sparql.exec.QueryExecResult;

/**
 * Runs a SELECT query with ARQ. The format "query" is the text of the query, the line "--- message",
 * and the dataset as N-Quads. The output format is the "table" of {@link Results}.
 *
 * <p>The reference engine evaluates the algebra as it is. ARQ's main engine replaces variables in
 * paths with values from other parts, which adds paths of zero steps.
 */
final class Queries {
  static {
    QueryEngineRef.register();
  }

  private Queries() {}

  static boolean has(String format) {
    return format.equals("query");
  }

  static void convert(Path from, Path to) throws IOException {
    String[] parts = Files.readString(from).split("--- message\n", -1);
    DatasetGraph dataset = DatasetGraphFactory.create();
    RDFParser.fromString(parts[1], Lang.NQUADS)
        .labelToNode(LabelToNode.createUseLabelAsGiven())
        .parse(dataset);
    try (QueryExec query = QueryExec.dataset(dataset).query(parts[0]).build();
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(to))) {
      Results.write(new QueryExecResult(query.select()), IO.wrapUTF8(out));
    }
  }
}
