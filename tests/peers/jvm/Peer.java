import eu.neverblink.jelly.convert.jena.JenaConverterFactory;
import eu.neverblink.jelly.core.JellyOptions;
import eu.neverblink.jelly.core.ProtoDecoder;
import eu.neverblink.jelly.core.ProtoEncoder;
import eu.neverblink.jelly.core.RdfHandler;
import eu.neverblink.jelly.core.memory.RowBuffer;
import eu.neverblink.jelly.core.proto.v1.LogicalStreamType;
import eu.neverblink.jelly.core.proto.v1.PhysicalStreamType;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamRow;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.jena.atlas.io.AWriter;
import org.apache.jena.atlas.io.IO;
import org.apache.jena.graph.Node;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFDataMgr;
import org.apache.jena.riot.RDFFormat;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.riot.lang.LabelToNode;
import org.apache.jena.riot.system.ErrorHandlerFactory;
import org.apache.jena.riot.system.StreamRDF;
import org.apache.jena.riot.system.StreamRDFBase;
import org.apache.jena.riot.system.StreamRDFWriter;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;
import org.apache.jena.sparql.core.Quad;

/**
 * Jena and Jelly-JVM with a line protocol, so that one JVM serves a complete test run.
 *
 * <p>Input: one request per line on standard input, with tab-separated fields: the file to read, its
 * format, the file to write, its format, and the format's options. Output: "ok", or "error" and the
 * reason.
 *
 * <p>Formats: "messages" (N-Quads with a line "--- message" before each message), "jelly" (each frame
 * is a message; options for writing: physical type, strict or all, and the sizes of the name, prefix
 * and datatype tables), and one message as "nt", "nq", "ttl" or "trig", written also as "ttl-pretty"
 * and "trig-pretty". Blank node labels are kept if the format allows it. "jsonld-lines" is an input
 * format: one JSON-LD document per line, each read as a message or an error; its option is the base.
 * {@link Patches}, {@link Results} and {@link Queries} describe their formats.
 */
public final class Peer {
  private static final String DELIMITER = "--- message\n";
  private static final JenaConverterFactory JELLY = JenaConverterFactory.getInstance();

  public static void main(String[] arguments) throws IOException {
    var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line; (line = requests.readLine()) != null; ) {
      String[] fields = line.split("\t");
      try {
        if (fields[1].equals("jsonld-lines")) {
          readDocuments(Path.of(fields[0]), Path.of(fields[2]), fields[4]);
        } else if (Patches.has(fields[1])) {
          Patches.convert(Path.of(fields[0]), fields[1], Path.of(fields[2]), fields[3]);
        } else if (Results.has(fields[1])) {
          Results.convert(Path.of(fields[0]), fields[1], Path.of(fields[2]), fields[3]);
        } else if (Queries.has(fields[1])) {
          Queries.convert(Path.of(fields[0]), Path.of(fields[2]));
        } else {
          write(read(Path.of(fields[0]), fields[1]), Path.of(fields[2]), fields);
        }
        answers.println("ok");
      } catch (Exception | StackOverflowError error) {
        answers.println("error " + error.toString().replaceAll("\\s+", " "));
      }
    }
  }

  private static List<List<Quad>> read(Path path, String format) throws IOException {
    return switch (format) {
      case "jelly" -> readJelly(path);
      case "messages" -> readMessages(Files.readString(path));
      default -> List.of(readText(Files.readString(path), lang(format)));
    };
  }

  private static void write(List<List<Quad>> messages, Path path, String[] fields)
      throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      switch (fields[3]) {
        case "jelly" -> writeJelly(messages, out, options(fields));
        case "messages" -> writeMessages(messages, out);
        default -> writeText(messages, out, format(fields[3]));
      }
    }
  }

  private static List<List<Quad>> readMessages(String text) {
    var messages = new ArrayList<List<Quad>>();
    String[] parts = text.split(DELIMITER, -1);
    for (int at = 1; at < parts.length; at++) {
      messages.add(readText(parts[at], Lang.NQUADS));
    }
    return messages;
  }

  /** Converts each line to a message; a rejected document becomes a comment with the reason. */
  private static void readDocuments(Path from, Path to, String base) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(to))) {
      for (String line : Files.readAllLines(from)) {
        try {
          var collector = new Collector();
          RDFParser.fromString(line, Lang.JSONLD11)
              .base(base)
              .checking(false)
              .errorHandler(ErrorHandlerFactory.errorHandlerIgnoreWarnings(null))
              .parse(collector);
          writeMessages(List.of(collector.quads), out);
        } catch (RuntimeException | StackOverflowError wrong) {
          String reason = (wrong + " " + wrong.getCause()).replaceAll("\\s+", " ");
          out.write((DELIMITER + "# " + reason + "\n").getBytes(StandardCharsets.UTF_8));
        }
      }
    }
  }

  private static void writeMessages(List<List<Quad>> messages, OutputStream out) {
    AWriter writer = IO.wrapUTF8(out);
    var formatter = new Terms();
    for (List<Quad> message : messages) {
      writer.print(DELIMITER);
      for (Quad quad : message) {
        for (Node term : terms(quad)) {
          formatter.format(writer, term);
          writer.print(" ");
        }
        writer.print(".\n");
      }
    }
    writer.flush();
  }

  private static List<Node> terms(Quad quad) {
    var triple = List.of(quad.getSubject(), quad.getPredicate(), quad.getObject());
    if (quad.isDefaultGraph()) {
      return triple;
    }
    var four = new ArrayList<Node>(triple);
    four.add(quad.getGraph());
    return four;
  }

  private static List<Quad> readText(String text, Lang lang) {
    var collector = new Collector();
    RDFParser.fromString(text, lang)
        .labelToNode(LabelToNode.createUseLabelAsGiven())
        .errorHandler(ErrorHandlerFactory.errorHandlerIgnoreWarnings(null))
        .parse(collector);
    return collector.quads;
  }

  private static void writeText(List<List<Quad>> messages, OutputStream out, RDFFormat format) {
    List<Quad> quads = messages.stream().flatMap(List::stream).toList();
    if (!StreamRDFWriter.registered(format)) {
      DatasetGraph dataset = DatasetGraphFactory.create();
      quads.forEach(dataset::add);
      if (format.getLang().equals(Lang.TURTLE)) {
        RDFDataMgr.write(out, dataset.getDefaultGraph(), format);
      } else {
        RDFDataMgr.write(out, dataset, format);
      }
      return;
    }
    StreamRDF writer = StreamRDFWriter.getWriterStream(out, format);
    writer.start();
    for (Quad quad : quads) {
      if (quad.isDefaultGraph()) {
        writer.triple(quad.asTriple());
      } else {
        writer.quad(quad);
      }
    }
    writer.finish();
  }

  private static List<List<Quad>> readJelly(Path path) throws IOException {
    var messages = new ArrayList<List<Quad>>();
    var collector = new Collector();
    ProtoDecoder<Node, ?> decoder =
        JELLY.anyStatementDecoder(collector, JellyOptions.DEFAULT_SUPPORTED_OPTIONS);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path))) {
      for (RdfStreamFrame frame; (frame = RdfStreamFrame.parseDelimitedFrom(in)) != null; ) {
        collector.quads = new ArrayList<>();
        for (RdfStreamRow row : frame.getRows()) {
          decoder.ingestRow(row);
        }
        messages.add(collector.quads);
      }
    }
    return messages;
  }

  private static void writeJelly(
      List<List<Quad>> messages, OutputStream out, RdfStreamOptions options) throws IOException {
    RowBuffer rows = RowBuffer.newLazyImmutable();
    ProtoEncoder<Node> encoder = JELLY.encoder(ProtoEncoder.Params.of(options, false, rows));
    for (List<Quad> message : messages) {
      switch (options.getPhysicalType()) {
        case TRIPLES -> message.forEach(
            quad ->
                encoder.handleTriple(quad.getSubject(), quad.getPredicate(), quad.getObject()));
        case QUADS -> message.forEach(
            quad ->
                encoder.handleQuad(
                    quad.getSubject(), quad.getPredicate(), quad.getObject(), quad.getGraph()));
        default -> writeGraphs(message, encoder);
      }
      RdfStreamFrame.newInstance().setRows(rows).writeDelimitedTo(out);
      rows.clear();
    }
  }

  /** Consecutive quads of the same graph share its start and end. */
  private static void writeGraphs(List<Quad> message, ProtoEncoder<Node> encoder) {
    Node graph = null;
    for (Quad quad : message) {
      if (!quad.getGraph().equals(graph)) {
        if (graph != null) {
          encoder.handleGraphEnd();
        }
        graph = quad.getGraph();
        encoder.handleGraphStart(graph);
      }
      encoder.handleTriple(quad.getSubject(), quad.getPredicate(), quad.getObject());
    }
    if (graph != null) {
      encoder.handleGraphEnd();
    }
  }

  private static RdfStreamOptions options(String[] fields) {
    PhysicalStreamType physical = PhysicalStreamType.valueOf(fields[4].toUpperCase());
    boolean all = fields[5].equals("all");
    return RdfStreamOptions.newInstance()
        .copyFrom(all ? JellyOptions.BIG_ALL_FEATURES : JellyOptions.BIG_STRICT)
        .setPhysicalType(physical)
        .setLogicalType(
            physical == PhysicalStreamType.TRIPLES
                ? LogicalStreamType.GRAPHS
                : LogicalStreamType.DATASETS)
        .setMaxNameTableSize(Integer.parseInt(fields[6]))
        .setMaxPrefixTableSize(Integer.parseInt(fields[7]))
        .setMaxDatatypeTableSize(Integer.parseInt(fields[8]));
  }

  private static Lang lang(String format) {
    return switch (format) {
      case "nt" -> Lang.NTRIPLES;
      case "nq" -> Lang.NQUADS;
      case "ttl" -> Lang.TURTLE;
      case "trig" -> Lang.TRIG;
      default -> throw new IllegalArgumentException("no format to read: " + format);
    };
  }

  private static RDFFormat format(String name) {
    return switch (name) {
      case "nt" -> RDFFormat.NTRIPLES_UTF8;
      case "nq" -> RDFFormat.NQUADS_UTF8;
      case "ttl" -> RDFFormat.TURTLE_BLOCKS;
      case "trig" -> RDFFormat.TRIG_BLOCKS;
      case "ttl-pretty" -> RDFFormat.TURTLE_PRETTY;
      case "trig-pretty" -> RDFFormat.TRIG_PRETTY;
      default -> throw new IllegalArgumentException("no format to write: " + name);
    };
  }

  /** Collects the output of any reader. */
  private static final class Collector extends StreamRDFBase
      implements RdfHandler.AnyStatementHandler<Node> {
    private List<Quad> quads = new ArrayList<>();

    @Override
    public void triple(org.apache.jena.graph.Triple triple) {
      quads.add(new Quad(Quad.defaultGraphNodeGenerated, triple));
    }

    @Override
    public void quad(Quad quad) {
      quads.add(quad.isDefaultGraph() ? new Quad(Quad.defaultGraphNodeGenerated, quad.asTriple()) : quad);
    }

    @Override
    public void handleTriple(Node subject, Node predicate, Node object) {
      quads.add(new Quad(Quad.defaultGraphNodeGenerated, subject, predicate, object));
    }

    @Override
    public void handleQuad(Node subject, Node predicate, Node object, Node graph) {
      Node name = Quad.isDefaultGraph(graph) ? Quad.defaultGraphNodeGenerated : graph;
      quads.add(new Quad(name, subject, predicate, object));
    }
  }
}
