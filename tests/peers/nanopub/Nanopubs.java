import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.rdf4j.rio.RDFFormat;
import org.nanopub.MultiNanopubRdfHandler;
import org.nanopub.Nanopub;
import org.nanopub.extra.security.NanopubSignatureElement;
import org.nanopub.extra.security.SignatureUtils;
import org.nanopub.trusty.TrustyNanopubUtils;

/**
 * Verdicts of the Java library: `check FILE...` prints a line for each file. `time FILE SECONDS` verifies the trusty URIs
 * of a file repeatedly for twice as many seconds, and prints the highest number per second.
 */
public class Nanopubs {
  public static void main(String[] words) throws Exception {
    if (words[0].equals("time")) {
      System.out.println(rate(read(new File(words[1])), Double.parseDouble(words[2])));
      return;
    }
    for (int at = 1; at < words.length; at++) {
      System.out.println(verdict(new File(words[at])));
    }
  }

  private static List<Nanopub> read(File file) throws Exception {
    List<Nanopub> found = new ArrayList<>();
    RDFFormat format = file.getName().endsWith(".nq") ? RDFFormat.NQUADS : RDFFormat.TRIG;
    MultiNanopubRdfHandler.process(format, file, found::add);
    return found;
  }

  /** Trusty and signed: "true", "false", or for signatures "none"; or "malformed". */
  private static String verdict(File file) {
    try {
      StringBuilder line = new StringBuilder();
      for (Nanopub nanopub : read(file)) {
        NanopubSignatureElement element = SignatureUtils.getSignatureElement(nanopub);
        String signed = element == null ? "none" : "" + SignatureUtils.hasValidSignature(element);
        line.append(TrustyNanopubUtils.isValidTrustyNanopub(nanopub)).append(' ').append(signed).append(' ');
      }
      return line.toString().trim();
    } catch (Exception error) {
      return "malformed";
    }
  }

  private static double rate(List<Nanopub> nanopubs, double seconds) {
    double best = 0;
    long start = System.nanoTime();
    while (System.nanoTime() - start < 2 * seconds * 1e9) {
      long before = System.nanoTime();
      for (Nanopub nanopub : nanopubs) {
        if (!TrustyNanopubUtils.isValidTrustyNanopub(nanopub)) throw new IllegalStateException(nanopub.getUri().toString());
      }
      best = Math.max(best, nanopubs.size() / ((System.nanoTime() - before) / 1e9));
    }
    return best;
  }
}
