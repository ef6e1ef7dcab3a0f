import eu.neverblink.jelly.convert.jena.JenaConverterFactory;
import eu.neverblink.jelly.convert.jena.riot.JellyLanguage;
import eu.neverblink.jelly.core.JellyConverterFactory;
import eu.neverblink.jelly.core.JellyOptions;
import eu.neverblink.jelly.core.ProtoDecoderConverter;
import eu.neverblink.jelly.core.ProtoEncoder;
import eu.neverblink.jelly.core.ProtoEncoderConverter;
import eu.neverblink.jelly.core.RdfHandler;
import eu.neverblink.jelly.core.memory.EncoderAllocator;
import eu.neverblink.jelly.core.memory.RowBuffer;
import eu.neverblink.jelly.core.proto.v1.LogicalStreamType;
import eu.neverblink.jelly.core.proto.v1.PhysicalStreamType;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.utils.IoUtils;
import eu.neverblink.protoc.java.runtime.ProtobufUtil;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.Triple;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.riot.system.StreamRDFBase;
import org.apache.jena.sparql.core.Quad;

/**
 * Measures the speed of Jelly-JVM on a Jelly log of triples in memory: {@code Speed LOG SECONDS}.
 *
 * <p>Prints the triples per CPU second for reading with RIOT into a StreamRDF, for reading with the
 * decoder of jelly-core into strings, and for writing one frame per message with the encoder of
 * jelly-core. Each number is the best run after a warm-up. CPU time is measured for the thread,
 * without compilation and garbage collection.
 */
public final class Speed {
  private static final JenaConverterFactory JELLY = JenaConverterFactory.getInstance();

  private interface Work {
    /** Does the work and returns the number of triples. */
    long run() throws IOException;
  }

  /** Counts statements. */
  private static final class Counter extends StreamRDFBase {
    long count;

    @Override
    public void triple(Triple triple) {
      count++;
    }

    @Override
    public void quad(Quad quad) {
      count++;
    }
  }

  /** Terms that are only their text, so that the decoder does the least work. */
  private static final class Strings
      extends JellyConverterFactory<
          String, String, ProtoEncoderConverter<String>, ProtoDecoderConverter<String, String>>
      implements ProtoDecoderConverter<String, String> {
    @Override
    public ProtoEncoderConverter<String> encoderConverter() {
      throw new UnsupportedOperationException();
    }

    @Override
    public ProtoDecoderConverter<String, String> decoderConverter() {
      return this;
    }

    @Override
    public String makeSimpleLiteral(String text) {
      return text;
    }

    @Override
    public String makeLangLiteral(String text, String language) {
      return text;
    }

    @Override
    public String makeDtLiteral(String text, String datatype) {
      return text;
    }

    @Override
    public String makeDatatype(String datatype) {
      return datatype;
    }

    @Override
    public String makeBlankNode(String label) {
      return label;
    }

    @Override
    public String makeIriNode(String iri) {
      return iri;
    }

    @Override
    public String makeTripleNode(String subject, String predicate, String object) {
      return subject;
    }

    @Override
    public String makeDefaultGraphNode() {
      return "";
    }
  }

  public static void main(String[] arguments) throws IOException {
    byte[] log = Files.readAllBytes(Path.of(arguments[0]));
    double seconds = Double.parseDouble(arguments[1]);
    List<List<Triple>> messages = messages(log);
    double read = rate(() -> read(log), seconds);
    double readStrings = rate(() -> readStrings(log), seconds);
    double written = rate(() -> write(messages), seconds);
    System.out.printf(Locale.ROOT, "%.0f %.0f %.0f%n", read, readStrings, written);
  }

  private static double rate(Work work, double seconds) throws IOException {
    var threads = ManagementFactory.getThreadMXBean();
    double best = 0;
    long start = System.nanoTime();
    for (double elapsed = 0; elapsed < 2 * seconds; elapsed = (System.nanoTime() - start) / 1e9) {
      long before = threads.getCurrentThreadCpuTime();
      long count = work.run();
      double used = (threads.getCurrentThreadCpuTime() - before) / 1e9;
      if (elapsed >= seconds) {
        best = Math.max(best, count / used);
      }
    }
    return best;
  }

  private static long read(byte[] log) {
    var counter = new Counter();
    RDFParser.create()
        .source(new ByteArrayInputStream(log))
        .lang(JellyLanguage.JELLY)
        .parse(counter);
    return counter.count;
  }

  private static long readStrings(byte[] log) throws IOException {
    long[] count = {0};
    RdfHandler.TripleHandler<String> handler = (s, p, o) -> count[0]++;
    readFrames(log, new Strings(), handler, () -> {});
    return count[0];
  }

  private static List<List<Triple>> messages(byte[] log) throws IOException {
    List<List<Triple>> messages = new ArrayList<>();
    List<Triple> message = new ArrayList<>();
    RdfHandler.TripleHandler<Node> handler = (s, p, o) -> message.add(Triple.create(s, p, o));
    readFrames(
        log,
        JELLY,
        handler,
        () -> {
          messages.add(new ArrayList<>(message));
          message.clear();
        });
    return messages;
  }

  private static <N, D> void readFrames(
      byte[] log,
      JellyConverterFactory<N, D, ?, ?> terms,
      RdfHandler.TripleHandler<N> handler,
      Runnable endMessage)
      throws IOException {
    var decoder = terms.triplesDecoder(handler, JellyOptions.DEFAULT_SUPPORTED_OPTIONS);
    var rows = RowBuffer.newSingle(decoder::ingestRow);
    var reused = RdfStreamFrame.newInstance().setRows(rows);
    IoUtils.<RdfStreamFrame>readStream(
        new ByteArrayInputStream(log),
        () -> reused,
        frame -> {
          rows.clear();
          endMessage.run();
        });
  }

  private static long write(List<List<Triple>> messages) throws IOException {
    var options =
        RdfStreamOptions.newInstance()
            .setPhysicalType(PhysicalStreamType.TRIPLES)
            .setLogicalType(LogicalStreamType.GRAPHS)
            .setMaxNameTableSize(4000)
            .setMaxPrefixTableSize(150)
            .setMaxDatatypeTableSize(32);
    var rows = RowBuffer.newReusableForEncoder(256);
    var allocator = EncoderAllocator.newArenaAllocator(1024);
    ProtoEncoder<Node> encoder =
        JELLY.encoder(ProtoEncoder.Params.of(options, false, rows, allocator));
    var output = ProtobufUtil.createCodedOutputStream(OutputStream.nullOutputStream());
    var frame = RdfStreamFrame.newInstance().setRows(rows);
    long count = 0;
    for (List<Triple> message : messages) {
      for (Triple triple : message) {
        encoder.handleTriple(triple.getSubject(), triple.getPredicate(), triple.getObject());
        count++;
      }
      frame.resetCachedSize();
      frame.writeDelimitedTo(output);
      rows.clear();
      allocator.releaseAll();
    }
    output.flush();
    return count;
  }
}
